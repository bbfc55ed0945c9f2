import type { Model } from "./models.ts";
import type { Plan } from "./plans.ts";
import { annualPriceCents } from "./plans.ts";
import { charactersPerUnit } from "./units.ts";

/** `pricing.<plan>` of check-discount-eligibility (spec §3), integer cents. */
export interface DiscountPricing {
  originalPrice: number;
  discountedPrice: number;
  savings: number;
  discountPercentage: number;
  /** The discount as a share of the price, 0–1. */
  discount: number;
}

export function discountedPrice(originalPrice: number, percent: number): DiscountPricing {
  const savings = Math.round((originalPrice * percent) / 100);
  return { originalPrice, discountedPrice: originalPrice - savings, savings, discountPercentage: percent, discount: percent / 100 };
}

/** The month's price and, under `annual`, the year's, both with `percent` (0–100) off the first period. */
export function discountPricing(plan: Plan, percent: number): DiscountPricing & { annual: DiscountPricing } {
  return { ...discountedPrice(plan.monthlyPriceCents, percent), annual: discountedPrice(annualPriceCents(plan), percent) };
}

/** Names the prices of the catalogue in credits: every answer says by which it was sold. A changed price is a new version. */
export const priceVersion = "2026-11";

/** The size of a request in the units that models are priced by. A text answer counts as one unit, whatever its length. */
export interface QuoteInput {
  images?: number;
  seconds?: number;
  characters?: number;
}

/** The price of one request in credits. It is shown before the request is sent and does not change afterwards. */
export function quoteCredits(model: Pick<Model, "credits" | "unit">, input: QuoteInput = {}): number {
  switch (model.unit) {
    case "image":
      return model.credits * (input.images ?? 1);
    case "minute":
      return model.credits * Math.max(1, Math.ceil((input.seconds ?? 0) / 60));
    case "thousand_characters":
      return model.credits * Math.max(1, Math.ceil((input.characters ?? 0) / charactersPerUnit));
    default:
      return model.credits;
  }
}
