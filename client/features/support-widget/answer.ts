export interface Answer {
  text: string;
  /** A name and its figure, as a price list has them. */
  rows?: readonly (readonly [string, string])[];
  link?: { href: string; label: string };
}
