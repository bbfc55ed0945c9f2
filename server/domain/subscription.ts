import type { PlanKey } from "./plans.ts";
import { plans } from "./plans.ts";

/** `none` is everybody without a plan, including people on the free trial (spec §4). */
export type SubscriptionTier = PlanKey | "none";

/** Display names of spec §4. */
export function tierDisplayName(tier: SubscriptionTier): string {
  return tier === "none" ? "No Plan" : `${plans[tier].name} Plan`;
}

/** `plan_name` of somebody who has no plan and is on the free trial. */
export const trialName = "Free Trial";

/** The reasons for "not subscribed": three for checks that failed (spec §8), the others for people without a plan. */
export const checkReasons = {
  unavailable: "Subscription verification temporarily unavailable - please refresh",
  empty: "No subscription data available",
  unverified: "Unable to verify subscription - please try refreshing the page",
  none: "No active subscription",
} as const;

/**
 * The states of a Stripe subscription that we distinguish. With `past_due` access continues for the days of grace. `suspended` exists at
 * Stripe and gives no access: Stripe gave up charging it, somebody paused it, or it has a status that Stripe adds later. Nobody can begin
 * another one beside it, so its payer is shown how to pay for it or to end it.
 */
const subscriptionStatuses = ["incomplete", "active", "past_due", "suspended", "canceled"] as const;
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
    case "canceled":
    case "incomplete_expired":
      return "canceled";
    default:
      return "suspended";
  }
}

/** Whether a person with this subscription may use models at `now`: it is active, or unpaid and still within the days of grace. */
export function grantsAccess(status: SubscriptionStatus, graceUntil: Date | null, now: Date): boolean {
  if (status === "active") return true;
  return status === "past_due" && graceUntil !== null && now < graceUntil;
}

/** The parts of "time left until subscription_end" (spec §4). A month counts as 30 days. */
export type TimeLeft =
  | { kind: "unknown" }
  | { kind: "expired" }
  | { kind: "months"; count: number; days: number }
  | { kind: "days" | "hours" | "minutes"; count: number }
  | { kind: "moment" };

export function timeLeft(end: string | null | undefined, now: Date): TimeLeft {
  const endMs = end ? Date.parse(end) : Number.NaN;
  if (Number.isNaN(endMs)) return { kind: "unknown" };
  const minutes = Math.floor((endMs - now.getTime()) / 60_000);
  if (endMs <= now.getTime()) return { kind: "expired" };
  const days = Math.floor(minutes / (24 * 60));
  if (days > 30) return { kind: "months", count: Math.floor(days / 30), days: days % 30 };
  if (days >= 1) return { kind: "days", count: days };
  if (minutes >= 60) return { kind: "hours", count: Math.floor(minutes / 60) };
  return minutes >= 1 ? { kind: "minutes", count: minutes } : { kind: "moment" };
}
