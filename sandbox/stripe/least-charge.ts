/** Stripe charges half a dollar or more. It adds smaller amounts of a subscription to the customer's balance, which is not played here. */
import { invalidRequest, notPlayed } from "./errors.ts";
import type { Price } from "./wire.ts";

/** Stripe's smallest charge in US dollars. */
const leastCents = 50;

const chargeable = (cents: number) => cents === 0 || cents >= leastCents;

export function refuseTooSmall(mode: "payment" | "subscription", totalCents: number): void {
  if (chargeable(totalCents)) return;
  if (mode === "subscription") throw notPlayed("line_items", `a total of nothing or of at least ${leastCents} cents`);
  throw invalidRequest("The Checkout Session's total amount due must add up to at least $0.50 usd", undefined, "amount_too_small");
}

/** A trial or a coupon may make the first payment nothing, while the renewals are too small to charge. */
export function refuseSmallRenewals({ unit_amount: cents }: Price, parameter: string): void {
  if (!chargeable(cents ?? 0)) throw notPlayed(parameter, `a recurring price of nothing or of at least ${leastCents} cents`);
}
