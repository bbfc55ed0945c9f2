import { kept } from "#client/lib/format.ts";
import type { headlineFigures } from "#domain/headline-figures.ts";
import { currency } from "#domain/plans.ts";

type Unit = (typeof headlineFigures)[keyof typeof headlineFigures]["unit"];

const units: Record<Unit, { options: Intl.NumberFormatOptions; per: number }> = {
  cents: { options: { style: "currency", currency: currency.toUpperCase(), currencyDisplay: "narrowSymbol" }, per: 100 },
  number: { options: {}, per: 1 },
  percent: { options: { style: "percent", maximumFractionDigits: 1 }, per: 100 },
  // A time is known to a tenth of itself, so two figures of it are enough.
  milliseconds: { options: { style: "unit", unit: "second", unitDisplay: "short", maximumSignificantDigits: 2 }, per: 1_000 },
};

/** `isChange`: with its sign, unless it is zero. */
export function formatHeadline(unit: Unit, value: number | null, language: string, isChange = false): string {
  if (value === null) return "–";
  const { options, per } = units[unit];
  const build = () => new Intl.NumberFormat(language, isChange ? { ...options, signDisplay: "exceptZero" } : options);
  return kept(`headline ${unit} ${isChange} ${language}`, build).format(value / per);
}

/** A change of a share, as a number with its sign. */
export function formatPoints(points: number, language: string): string {
  return kept(`points ${language}`, () => new Intl.NumberFormat(language, { signDisplay: "exceptZero", maximumFractionDigits: 1 })).format(
    points,
  );
}
