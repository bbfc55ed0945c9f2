import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { monthlyCreditsOf } from "#domain/plans.ts";

/** When the next credits arrive: on a date, once an invoice is paid, not before the plan ends, or only with a plan after the free trial. */
export type NextCredits = { kind: "on"; at: string; credits: number } | { kind: "ends" | "trial"; at: string } | { kind: "unpaid" };

/** Reads from the latest check when more credits arrive, and how many; null if none are expected. Every screen uses this function. */
export function nextCredits(check: SubscriptionCheck): NextCredits | null {
  const { next_credits_at: at, plan_to_come: coming, subscription_tier: tier } = check;
  if (check.subscribed && tier === "none" && check.trial_end) return { kind: "trial", at: check.trial_end };
  // If the plan changes by then, the credits are those of the new plan.
  if (at) return { kind: "on", at, credits: monthlyCreditsOf(coming && at >= coming.from ? coming.plan : tier) };
  if (check.status === "past_due" || check.unpaid) return { kind: "unpaid" };
  return check.cancel_at_period_end && check.subscription_end !== null ? { kind: "ends", at: check.subscription_end } : null;
}
