/** Formats numbers in the reader's language. Formatters are cached, because creating one costs more than using it. */
import { currency } from "#domain/plans.ts";

const formatters = new Map<string, unknown>();

export function kept<Formatter>(key: string, build: () => Formatter): Formatter {
  const found = formatters.get(key) as Formatter | undefined;
  if (found) return found;
  const built = build();
  formatters.set(key, built);
  return built;
}

/** `1999` → "$19.99". Whole amounts show their cents too, so that prices in a row stay aligned. */
export function formatMoney(cents: number, language: string): string {
  const options: Intl.NumberFormatOptions = { style: "currency", currency: currency.toUpperCase(), currencyDisplay: "narrowSymbol" };
  return kept(`money ${language}`, () => new Intl.NumberFormat(language, options)).format(cents / 100);
}

export function formatNumber(value: number, language: string): string {
  return kept(`number ${language}`, () => new Intl.NumberFormat(language)).format(value);
}

/** "3 days", in the right plural form of the language. `unit`: one of Intl's, such as "day". */
export function formatDuration(count: number, unit: string, language: string): string {
  const long = () => new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" });
  return kept(`${unit} ${language}`, long).format(count);
}

/** `20` → "20%", or in the form of that language. */
export function formatPercent(percent: number, language: string): string {
  return kept(`percent ${language}`, () => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 })).format(
    percent / 100,
  );
}

/** Accepts a timestamp of the contract (RFC 3339, UTC). */
export function formatDate(timestamp: string | Date, language: string): string {
  return kept(`date ${language}`, () => new Intl.DateTimeFormat(language, { dateStyle: "long" })).format(new Date(timestamp));
}

export function formatDateTime(timestamp: string | Date, language: string): string {
  return kept(`moment ${language}`, () => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" })).format(
    new Date(timestamp),
  );
}

/** "10:42", for a moment whose day is shown already. */
export function formatTime(timestamp: string | Date, language: string): string {
  return kept(`time ${language}`, () => new Intl.DateTimeFormat(language, { timeStyle: "short" })).format(new Date(timestamp));
}

/** "a, b, and c", or in the form of that language. */
export function formatList(items: readonly string[], language: string): string {
  return kept(`list ${language}`, () => new Intl.ListFormat(language, { type: "conjunction" })).format(items);
}

const relativeSteps = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** "3 hours ago", "in 2 days", "12 seconds ago". It never says "now", because the texts around it are about the past. */
export function formatRelative(timestamp: string | Date, now: Date, language: string): string {
  const seconds = (new Date(timestamp).getTime() - now.getTime()) / 1000;
  const formatter = kept(`relative ${language}`, () => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
  for (const [unit, length] of relativeSteps) {
    if (Math.abs(seconds) >= length) return formatter.format(Math.trunc(seconds / length), unit);
  }
  // -0 is "0 seconds ago"; 0 would be "in 0 seconds".
  return kept(`relative seconds ${language}`, () => new Intl.RelativeTimeFormat(language)).format(Math.trunc(seconds) || -0, "second");
}

/** "8 sec". */
export function formatSeconds(seconds: number, language: string): string {
  return new Intl.NumberFormat(language, { style: "unit", unit: "second", unitDisplay: "short", maximumFractionDigits: 0 }).format(seconds);
}
