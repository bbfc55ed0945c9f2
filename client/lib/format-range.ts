import { kept } from "./format.ts";

/** "Mar 10 – Apr 10, 2026", or in the form of that language. */
export function formatRange(from: string | Date, until: string | Date, language: string): string {
  return kept(`range ${language}`, () => new Intl.DateTimeFormat(language, { dateStyle: "medium" })).formatRange(
    new Date(from),
    new Date(until),
  );
}
