import { kept } from "./format.ts";

/** Japanese writes a number and its unit without the space that the formatters put between them. */
function tightened(text: string, language: string): string {
  return language === "ja" ? text.replace(/(\d) (?=[^ -~])/, "$1") : text;
}

/** "14 days". In a file of its own, because public pages don't need it. */
export function formatDays(days: number, language: string): string {
  const formatter = kept(`days ${language}`, () => new Intl.NumberFormat(language, { style: "unit", unit: "day", unitDisplay: "long" }));
  return tightened(formatter.format(days), language);
}
