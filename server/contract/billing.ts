import type { Static } from "typebox";
import { Type } from "typebox";
import { Cents, Credits, NoBody, Timestamp, Uuid } from "./common.ts";
import type { RouteContract } from "./route.ts";

const Discount = {
  originalPrice: Cents,
  discountedPrice: Cents,
  savings: Cents,
  discountPercentage: Type.Integer(),
  discount: Type.Number(),
};
export const PlanPricing = Type.Object({ ...Discount, annual: Type.Object(Discount) });
export const DiscountEligibility = Type.Object({
  discountEligible: Type.Boolean(),
  pricing: Type.Object({ starter: PlanPricing, basic: PlanPricing, professional: PlanPricing, enterprise: PlanPricing }),
});
export type DiscountEligibility = Static<typeof DiscountEligibility>;

export const Tier = Type.Union([
  Type.Literal("starter"),
  Type.Literal("basic"),
  Type.Literal("professional"),
  Type.Literal("enterprise"),
  Type.Literal("none"),
]);

/** The fields of spec §3, and what the profile shows beside them. */
export const SubscriptionCheck = Type.Object({
  subscribed: Type.Boolean(),
  subscription_tier: Tier,
  plan_name: Type.String(),
  /** What can be spent now: without held credits, without packs locked for want of a subscription. */
  credits: Credits,
  subscription_end: Type.Union([Timestamp, Type.Null()]),
  reason: Type.Union([Type.String(), Type.Null()]),
  status: Type.Union([
    Type.Literal("none"),
    Type.Literal("active"),
    Type.Literal("past_due"),
    Type.Literal("canceled"),
    Type.Literal("incomplete"),
  ]),
  billing_interval: Type.Union([Type.Literal("month"), Type.Literal("year"), Type.Null()]),
  cancel_at_period_end: Type.Boolean(),
  /** Business time at the server: "time left" is reckoned from it, not from the device's clock. */
  server_time: Timestamp,
});
export type SubscriptionCheck = Static<typeof SubscriptionCheck>;

export const WalletGrant = Type.Object({
  id: Uuid,
  kind: Type.Union([Type.Literal("plan"), Type.Literal("trial"), Type.Literal("pack"), Type.Literal("adjustment")]),
  credits: Credits,
  remaining: Type.Integer(),
  held: Credits,
  expiresAt: Timestamp,
  createdAt: Timestamp,
});
export const Wallet = Type.Object({
  balance: Type.Integer(),
  held: Credits,
  available: Credits,
  frozen: Type.Boolean(),
  grants: Type.Array(WalletGrant),
  serverTime: Timestamp,
});
export type Wallet = Static<typeof Wallet>;

/** One line of the wallet's history: `balanceAfter` is the running sum, so a person can replay it down to the balance. */
export const LedgerLine = Type.Object({
  id: Uuid,
  kind: Type.Union([
    Type.Literal("grant"),
    Type.Literal("capture"),
    Type.Literal("expire"),
    Type.Literal("clawback"),
    Type.Literal("repay"),
    Type.Literal("restore"),
  ]),
  credits: Type.Integer(),
  balanceAfter: Type.Integer(),
  occurredAt: Timestamp,
  /** For a capture: the model that answered. */
  modelId: Type.Union([Type.String(), Type.Null()]),
});
export const LedgerPage = Type.Object({ lines: Type.Array(LedgerLine), nextCursor: Type.Union([Type.String(), Type.Null()]) });
export type LedgerPage = Static<typeof LedgerPage>;

export const billingRoutes = {
  "POST /api/functions/check-discount-eligibility": {
    summary: "Whether a discount applies, and every plan's price with it (spec §7). Bearer if signed in",
    body: NoBody,
    response: { 200: DiscountEligibility },
  },
  "POST /api/functions/reliable-subscription-check": {
    summary: "The person's subscription, read afresh (spec §7)",
    body: NoBody,
    response: { 200: SubscriptionCheck },
  },
  "POST /api/functions/create-checkout": {
    summary: "A checkout for a plan's price; the browser goes to `url` (spec §7)",
    body: Type.Object({ priceId: Type.String({ maxLength: 100 }) }, { additionalProperties: false }),
    response: { 200: Type.Object({ url: Type.String() }) },
  },
  "POST /api/billing/portal": {
    summary: "A session of the payment portal: cards, invoices, cancelling",
    body: NoBody,
    response: { 200: Type.Object({ url: Type.String() }) },
  },
  "GET /api/credits/wallet": { summary: "Balance, held credits and the grants behind them", response: { 200: Wallet } },
  "GET /api/credits/ledger": {
    summary: "The wallet's history, newest first",
    querystring: Type.Object(
      { cursor: Type.Optional(Uuid), limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })) },
      { additionalProperties: false },
    ),
    response: { 200: LedgerPage },
  },
} as const satisfies Record<string, RouteContract>;
