import { kept } from "./format.ts";

/** "14 days". Apart from the other formats, since public pages have no use for it. */
export function formatDays(days: number, language: string): string {
  return kept(`days ${language}`, () => new Intl.NumberFormat(language, { style: "unit", unit: "day", unitDisplay: "long" })).format(days);
}
