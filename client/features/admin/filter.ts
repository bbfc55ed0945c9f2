/** What a list can be filtered by. */
export interface Filter {
  name: string;
  label: string;
  /** The values to choose from; without them the filter is a text field. */
  options?: readonly { value: string; label: string }[];
  /** The filter is a date field. */
  isDay?: boolean;
}
