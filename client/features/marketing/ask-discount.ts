import { api } from "#client/lib/api.ts";
import type { DiscountEligibility } from "#contract/billing/subscription.ts";

let early: Promise<DiscountEligibility> | undefined;

/** Asks the server whether a discount applies to this person. */
export function askDiscount(signal?: AbortSignal): Promise<DiscountEligibility> {
  // Uses the answer that `hasDiscount` got while the page slept, once.
  const known = early;
  early = undefined;
  return known ?? api("POST /api/functions/check-discount-eligibility", signal ? { signal } : {});
}

/** Whether the plans must be rendered again for a visitor, because there is a discount or the server could not be asked. */
export async function hasDiscount(): Promise<boolean> {
  early = askDiscount();
  return await early.then(
    ({ discountEligible }) => discountEligible,
    () => true,
  );
}
