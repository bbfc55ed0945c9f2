import type { PlanKey } from "./plans.ts";
import { plans } from "./plans.ts";

/** Tier order low to high (spec §4); `none` is everybody else, the free trial included. */
export type SubscriptionTier = PlanKey | "none";

/** Display names of spec §4. */
export function tierDisplayName(tier: SubscriptionTier): string {
  return tier === "none" ? "No Plan" : `${plans[tier].name} Plan`;
}

/** Why a check says "not subscribed": three of spec §8 for checks that failed, and what the server says of people without a plan. */
export const checkReasons = {
  unavailable: "Subscription verification temporarily unavailable - please refresh",
  empty: "No subscription data available",
  unverified: "Unable to verify subscription - please try refreshing the page",
  none: "No active subscription",
} as const;

/**
 * The states of Stripe's subscription we act on. `past_due` keeps access for the days of grace (decisions.md,
 * "Payment failure"); everything unknown counts as ended, so that a new Stripe status never grants by accident.
 */
export const subscriptionStatuses = ["incomplete", "active", "past_due", "canceled"] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];

export function fromStripeStatus(status: string): SubscriptionStatus {
  switch (status) {
    case "active":
    case "trialing":
      return "active";
    case "past_due":
      return "past_due";
    case "incomplete":
      return "incomplete";
    default:
      return "canceled";
  }
}

/** Whether this state lets a person use models at `now`: active, or unpaid within grace. */
export function grantsAccess(status: SubscriptionStatus, graceUntil: Date | null, now: Date): boolean {
  if (status === "active") return true;
  return status === "past_due" && graceUntil !== null && now < graceUntil;
}

/** The pieces of "time left until subscription_end" (spec §4; a month is 30 days, decisions.md "Time left"). */
export type TimeLeft =
  | { kind: "unknown" }
  | { kind: "expired" }
  | { kind: "months"; months: number; days: number }
  | { kind: "days"; days: number }
  | { kind: "hours"; hours: number }
  | { kind: "minutes"; minutes: number }
  | { kind: "moment" };

export function timeLeft(end: string | null | undefined, now: Date): TimeLeft {
  const endMs = end ? Date.parse(end) : Number.NaN;
  if (Number.isNaN(endMs)) return { kind: "unknown" };
  const minutes = Math.floor((endMs - now.getTime()) / 60_000);
  if (endMs <= now.getTime()) return { kind: "expired" };
  const days = Math.floor(minutes / (24 * 60));
  if (days > 30) return { kind: "months", months: Math.floor(days / 30), days: days % 30 };
  if (days >= 1) return { kind: "days", days };
  if (minutes >= 60) return { kind: "hours", hours: Math.floor(minutes / 60) };
  return minutes >= 1 ? { kind: "minutes", minutes } : { kind: "moment" };
}
