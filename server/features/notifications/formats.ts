/** Money and times as mails write them, in the reader's language. */
import type { LanguageCode } from "#domain/languages.ts";
import { currency } from "#domain/plans.ts";

/** A day and the time, in UTC. */
export const timeFormat = {
  year: "numeric",
  month: "long",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
} as const satisfies Intl.DateTimeFormatOptions;

export function money(language: LanguageCode, cents: number | string | undefined): string | undefined {
  if (cents === undefined) return undefined;
  return new Intl.NumberFormat(language, { style: "currency", currency }).format(Number(cents) / 100);
}

export function instant(
  language: LanguageCode,
  value: number | string | undefined,
  format: Intl.DateTimeFormatOptions,
): string | undefined {
  return value === undefined ? undefined : new Intl.DateTimeFormat(language, { ...format, timeZone: "UTC" }).format(new Date(value));
}
