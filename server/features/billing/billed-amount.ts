import type Stripe from "stripe";
import { fromUnix } from "../../providers/stripe.ts";

/** The subscription's discounts that hold at `at`. It must have been read with `discounts` expanded. */
export function discountsAt({ discounts }: Pick<Stripe.Subscription, "discounts">, at: Date): Stripe.Discount[] {
  return discounts.filter((discount) => typeof discount === "object").filter(({ end }) => end === null || fromUnix(end) > at);
}

function amountOff({ source: { coupon } }: Stripe.Discount, cents: number): number {
  if (typeof coupon !== "object" || coupon === null) throw new Error("a discount was read without its coupon");
  const off = coupon.percent_off === null ? (coupon.amount_off ?? 0) : Math.round((cents * coupon.percent_off) / 100);
  return Math.min(off, cents);
}

/**
 * What Stripe bills at `at` for a period that costs `priceCents`: each discount is taken off what the ones before it left. The
 * subscription must have been read with `discounts.source.coupon` expanded.
 */
export function billedCents(priceCents: number, subscription: Pick<Stripe.Subscription, "discounts">, at: Date): number {
  return discountsAt(subscription, at).reduce((left, discount) => left - amountOff(discount, left), priceCents);
}
