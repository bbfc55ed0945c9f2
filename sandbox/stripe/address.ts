import { invalidParameter } from "./errors.ts";
import type { Parameters } from "./parameters.ts";
import { isCountry } from "./tax-places.ts";
import type { Address } from "./wire.ts";

/** A postal address. What is not given is null, as in an address at Stripe, which is replaced as a whole. */
export function readPostalAddress(parameters: Parameters): Address {
  const read = (key: keyof Address) => parameters.text(key) ?? null;
  const country = read("country")?.toUpperCase() ?? null;
  if (country !== null && !isCountry(country))
    throw invalidParameter(
      `Country '${country}' is unknown. Try using a 2-character alphanumeric country code instead.`,
      parameters.nameOf("country"),
    );
  return {
    city: read("city"),
    country,
    line1: read("line1"),
    line2: read("line2"),
    postal_code: read("postal_code"),
    state: read("state"),
  };
}
