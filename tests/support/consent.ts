import type { Consent } from "#contract/billing/orders.ts";
import { orderTexts, soldAs, totalsOf } from "#domain/orders.ts";

/** What somebody agrees to who orders at this price. `percent`: their discount. */
export function consentTo(priceId: string, percent = 0): Consent {
  const sold = soldAs(priceId);
  return { amountCents: sold ? totalsOf(sold, percent).amountCents : 0, ...orderTexts, language: "en", beginAtOnce: true };
}
