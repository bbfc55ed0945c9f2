import { currency } from "#domain/plans.ts";
import type { RoiAmount } from "#domain/roi.ts";

const styles: Readonly<Record<RoiAmount, Intl.NumberFormatOptions>> = {
  taskMinutes: { style: "unit", unit: "hour", unitDisplay: "short" },
  hourlyCents: { style: "currency", currency: currency.toUpperCase(), currencyDisplay: "narrowSymbol" },
  savedPercent: { style: "percent" },
  checkMinutes: { style: "unit", unit: "minute", unitDisplay: "short" },
};

/** The unit of a field, as the language abbreviates it: "h", "$", "%", "min". */
export function unitOf(name: RoiAmount, language: string): string {
  const parts = new Intl.NumberFormat(language, styles[name]).formatToParts(2);
  return parts.find(({ type }) => type === "unit" || type === "currency" || type === "percentSign")?.value ?? "";
}

function amount(value: number, unit: "hour" | "minute", language: string): string {
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 1 }).format(value);
}

/** 444 minutes → "7.4 hours". */
export function hoursText(minutes: number, language: string): string {
  return amount(minutes / 60, "hour", language);
}

export function minutesText(minutes: number, language: string): string {
  return amount(minutes, "minute", language);
}
