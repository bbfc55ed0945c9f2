import { api } from "#client/lib/api.ts";
import type { DiscountEligibility } from "#contract/billing/subscription.ts";

let early: Promise<DiscountEligibility> | undefined;

/** Asks the server whether a discount applies to this person. */
export function askDiscount(signal?: AbortSignal): Promise<DiscountEligibility> {
  // An answer that came while the page slept is used once.
  const known = early;
  early = undefined;
  return known ?? api("POST /api/functions/check-discount-eligibility", signal ? { signal } : {});
}

/** Whether the plans must be drawn again for a visitor: there is a discount, or nobody knows. */
export async function hasDiscount(): Promise<boolean> {
  early = askDiscount();
  return await early.then(
    ({ discountEligible }) => discountEligible,
    () => true,
  );
}
