import type { Static } from "typebox";
import { Type } from "typebox";
import { Cents, Credits, NoBody, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";

const Discount = {
  originalPrice: Cents,
  discountedPrice: Cents,
  savings: Cents,
  discountPercentage: Type.Integer(),
  discount: Type.Number(),
};
const PlanPricing = Type.Object({ ...Discount, annual: Type.Object(Discount) });
export const DiscountEligibility = Type.Object({
  discountEligible: Type.Boolean(),
  pricing: Type.Object({ starter: PlanPricing, basic: PlanPricing, professional: PlanPricing, enterprise: PlanPricing }),
});
export type DiscountEligibility = Static<typeof DiscountEligibility>;

export const PaidTier = Type.Union([
  Type.Literal("starter"),
  Type.Literal("basic"),
  Type.Literal("professional"),
  Type.Literal("enterprise"),
]);
const Tier = Type.Union([...PaidTier.anyOf, Type.Literal("none")]);
export const Interval = Type.Union([Type.Literal("month"), Type.Literal("year")]);

/** The fields of spec §3, and more that the profile shows. */
export const SubscriptionCheck = Type.Object({
  subscribed: Type.Boolean(),
  subscription_tier: Tier,
  plan_name: Type.String(),
  /** The credits that can be spent now: neither held credits nor credits that are locked without a subscription. */
  credits: Credits,
  subscription_end: Type.Union([Timestamp, Type.Null()]),
  /** When the plan's next credits come; null if none will. */
  next_credits_at: Type.Union([Timestamp, Type.Null()]),
  reason: Type.Union([Type.String(), Type.Null()]),
  status: Type.Union([
    Type.Literal("none"),
    Type.Literal("active"),
    Type.Literal("past_due"),
    Type.Literal("suspended"),
    Type.Literal("canceled"),
    Type.Literal("incomplete"),
  ]),
  billing_interval: Type.Union([...Interval.anyOf, Type.Null()]),
  /** What each period costs the person, who keeps it when the catalogue's price changes; absent if Stripe names none. */
  price_cents: Type.Optional(Cents),
  cancel_at_period_end: Type.Boolean(),
  /** The plan to which the person changes at the end of the period; null if none. */
  plan_to_come: Type.Union([Type.Object({ plan: PaidTier, interval: Interval, from: Timestamp }), Type.Null()]),
  /** Whether the person may start the free trial now. */
  can_start_trial: Type.Boolean(),
  /** The end of the person's trial, running or over; null if they never had one. */
  trial_end: Type.Union([Timestamp, Type.Null()]),
  /** Whether the person has ever paid for an answer. We ask for feedback only after that. */
  answered: Type.Boolean(),
  /** What is owed for the plan; absent if nothing is, as far as we know yet. */
  unpaid: Type.Optional(
    Type.Object({
      invoiceId: Type.String(),
      amountCents: Cents,
      /** When access ends if it stays unpaid; null before the first payment. */
      until: Type.Union([Timestamp, Type.Null()]),
      /** The bank wants the cardholder to confirm the payment. */
      needsAction: Type.Boolean(),
      /** A bank was told to debit for it and has not answered yet, which takes days: there is nothing to do. */
      processing: Type.Boolean(),
      /** By when it is to be paid by bank transfer; absent if a card is charged. */
      dueAt: Type.Optional(Timestamp),
    }),
  ),
  /** The share of the month's plan credits, in percent, that is spent and that people are told of. Absent before, and once it was read. */
  spent_percent: Type.Optional(Type.Integer()),
  /** Business time at the server. "Time left" is computed from it, because the device's clock may be wrong. */
  server_time: Timestamp,
});
export type SubscriptionCheck = Static<typeof SubscriptionCheck>;

/** A running trial. `credits` is what it began with. */
export const Trial = Type.Object({ startedAt: Timestamp, endsAt: Timestamp, credits: Credits });
export type Trial = Static<typeof Trial>;

/**
 * The state of a checkout for a person who returns from the payment page: paid, payment under way, a bank's debit under way, which takes days, not
 * paid in time, ended since.
 */
export const CheckoutReturn = Type.Object({
  state: Type.Union([
    Type.Literal("paid"),
    Type.Literal("waiting"),
    Type.Literal("processing"),
    Type.Literal("expired"),
    Type.Literal("over"),
  ]),
  /** Null: a plan was bought. */
  packCredits: Type.Union([Credits, Type.Null()]),
});
export type CheckoutReturn = Static<typeof CheckoutReturn>;

export const billingRoutes = {
  "POST /api/functions/check-discount-eligibility": {
    summary: "Whether a discount applies, and every plan's price with it (spec §7). With a bearer token if signed in",
    body: NoBody,
    response: { 200: DiscountEligibility },
  },
  "POST /api/functions/reliable-subscription-check": {
    summary: "The person's current subscription (spec §7)",
    body: NoBody,
    response: { 200: SubscriptionCheck },
  },
  "POST /api/billing/checkout-return": {
    summary: "The state of a checkout; asks Stripe if we have no payment for it yet",
    body: Type.Object({ sessionId: Type.String({ maxLength: 200 }) }, { additionalProperties: false }),
    response: { 200: CheckoutReturn },
  },
  "POST /api/billing/trial": {
    summary: "Starts the free trial; while it runs, a second call gives the same one",
    body: NoBody,
    response: { 200: Trial },
  },
  "POST /api/billing/portal": {
    summary: "Creates a session of the payment portal: cards, invoices, cancelling",
    body: NoBody,
    response: { 200: Type.Object({ url: Type.String() }) },
  },
} as const satisfies Record<string, RouteContract>;
