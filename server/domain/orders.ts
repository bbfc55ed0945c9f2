/** What an order costs, and the texts that somebody accepts with it. */
import type { BillingInterval, Pack, PackKey, Plan, PriceId } from "./plans.ts";
import { packOf, parsePriceId, priceCents, priceIdOf } from "./plans.ts";
import { discountedPrice } from "./pricing.ts";

/**
 * The versions of the terms and of the information about withdrawing (on the order page and in the confirming mails), by their day. Every
 * order records them, so a text that changes in substance, in any language, gets a new version (tests/server/order-texts.test.ts).
 */
export const orderTexts = { terms: "2026-11-27", withdrawal: "2026-11-23" } as const;

export type Sold = { kind: "plan"; id: PriceId; plan: Plan; interval: BillingInterval } | { kind: "pack"; id: PackKey; pack: Pack };

/** Undefined if nothing of that name is sold. */
export function soldAs(priceId: string): Sold | undefined {
  const pack = packOf(priceId);
  if (pack) return { kind: "pack", id: pack.key, pack };
  const price = parsePriceId(priceId);
  return price && { kind: "plan", id: priceIdOf(price.plan.key, price.interval), ...price };
}

export interface OrderTotals {
  /** The first payment. */
  amountCents: number;
  /** Each renewal; null: there is none. */
  laterCents: number | null;
  /** For a plan: the credits of one month. */
  credits: number;
}

/** `percent` (0–100) is taken off the first period of a plan. */
export function totalsOf(sold: Sold, percent: number): OrderTotals {
  if (sold.kind === "pack") return { amountCents: sold.pack.priceCents, laterCents: null, credits: sold.pack.credits };
  const laterCents = priceCents(sold.plan, sold.interval);
  return { amountCents: discountedPrice(laterCents, percent).discountedPrice, laterCents, credits: sold.plan.monthlyCredits };
}
