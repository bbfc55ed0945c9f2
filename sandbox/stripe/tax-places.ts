/** Countries, as Stripe Tax knows them. */
import type { Address } from "./wire.ts";

/** The standard rates of value added tax in percent. In other countries the sandbox collects none. */
export const percentages: Readonly<Record<string, number>> = {
  ...{ AT: 20, BE: 21, BG: 20, CH: 8.1, CY: 19, CZ: 21, DE: 19, DK: 25, EE: 24, ES: 21, FI: 25.5, FR: 20, GB: 20, GR: 24, HR: 25, HU: 27 },
  ...{ IE: 23, IT: 22, LT: 21, LU: 17, LV: 21, MT: 18, NL: 21, NO: 25, PL: 23, PT: 23, RO: 21, SE: 25, SI: 22, SK: 23 },
};

export const regionNames = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
/** Codes for which Intl has a name, but which are no countries. */
const noCountries: readonly string[] = ["EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"];
/** Here Stripe needs more than the country. */
const needsPostalCode: readonly string[] = ["CA", "US"];

export function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && !noCountries.includes(code) && regionNames.of(code) !== undefined;
}

/** Undefined if Stripe can't tell from this address where tax is due. */
export function countryOf(address: Address | null | undefined): string | undefined {
  const country = address?.country;
  if (!country || !isCountry(country)) return undefined;
  return needsPostalCode.includes(country) && !address.postal_code ? undefined : country;
}
