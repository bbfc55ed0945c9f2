import { kept } from "#client/lib/format.ts";
import { currency } from "#domain/plans.ts";

/** A price of less than a cent is written with four decimals. */
export function formatMicroDollars(microDollars: number, language: string): string {
  const options: Intl.NumberFormatOptions = {
    style: "currency",
    currency: currency.toUpperCase(),
    currencyDisplay: "narrowSymbol",
    maximumFractionDigits: 4,
  };
  return kept(`micro-dollars ${language}`, () => new Intl.NumberFormat(language, options)).format(microDollars / 1e6);
}
