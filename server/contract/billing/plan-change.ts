import type { Static } from "typebox";
import { Type } from "typebox";
import { Cents, Credits, NoBody, TaxShown, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { Interval, PaidTier, SubscriptionCheck } from "./subscription.ts";

/** A plan as it is sold: `priceCents` is the price of one period without discounts, `credits` are those of a month. */
const SoldPlan = Type.Object({ plan: PaidTier, interval: Interval, priceCents: Cents, credits: Credits });

export const PlanChangePreview = Type.Object({
  from: SoldPlan,
  to: SoldPlan,
  /** Always 0: a change never costs anything before it takes effect. */
  dueNowCents: Cents,
  effectiveAt: Timestamp,
  /** The first payment for the new plan, at `effectiveAt`, with the discounts that still hold then. */
  amountCents: Cents,
  /** The payment after that one. */
  laterCents: Cents,
  tax: TaxShown,
  /** The plan's credits that are left now. What is left of them does not carry over to the new plan. */
  planCreditsLeft: Credits,
  /** The change that was planned before, which this one replaces. */
  replaces: Type.Union([Type.Object({ plan: PaidTier, interval: Interval }), Type.Null()]),
});
export type PlanChangePreview = Static<typeof PlanChangePreview>;

const priceId = Type.String({ maxLength: 100 });

export const planChangeRoutes = {
  "POST /api/billing/plan-change/preview": {
    summary: "What a change to this price means in money, dates and credits; changes nothing",
    body: Type.Object({ priceId }, { additionalProperties: false }),
    response: { 200: PlanChangePreview },
  },
  "POST /api/billing/plan-change": {
    summary: "Changes the plan from the next billing period on, as previewed; replaces a change that was planned before",
    body: Type.Object({ priceId, effectiveAt: Timestamp, amountCents: Cents }, { additionalProperties: false }),
    response: { 200: SubscriptionCheck },
  },
  "DELETE /api/billing/plan-change": {
    summary: "Takes a planned change back",
    body: NoBody,
    response: { 200: SubscriptionCheck },
  },
  "POST /api/billing/cancellation": {
    summary: "Cancels the plan to the end of the period that is paid for, and drops a planned change",
    body: NoBody,
    response: { 200: SubscriptionCheck },
  },
  "DELETE /api/billing/cancellation": {
    summary: "Takes the cancellation back: the plan renews again",
    body: NoBody,
    response: { 200: SubscriptionCheck },
  },
} as const satisfies Record<string, RouteContract>;
