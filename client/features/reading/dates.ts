/** Dates of texts have no time, so they are formatted in UTC and are the same day everywhere. */
function format(date: string, language: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" }).format(new Date(date));
}

/** `2026-09-14` → "September 14, 2026", or in the form of that language. */
export function formatDay(date: string, language: string): string {
  return format(date, language, { dateStyle: "long" });
}

/** `2025-01-01` → "January 2025". The legal pages show only the month (spec §2). */
export function formatMonth(date: string, language: string): string {
  return format(date, language, { month: "long", year: "numeric" });
}
