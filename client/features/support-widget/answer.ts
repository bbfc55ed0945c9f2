export interface Answer {
  text: string;
  /** Pairs of a name and a number, shown like a price list. */
  rows?: readonly (readonly [string, string])[];
  link?: { href: string; label: string };
}
