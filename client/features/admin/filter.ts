/** What a list can be filtered by. */
export interface Filter {
  name: string;
  label: string;
  /** To choose from; without it, it is a field to write into. */
  options?: readonly { value: string; label: string }[];
  /** To choose a day. */
  isDay?: boolean;
}
