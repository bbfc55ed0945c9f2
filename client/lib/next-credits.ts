import type { SubscriptionCheck } from "#contract/billing.ts";

/** When the next credits arrive: on a date, once an invoice is paid, not before the plan ends, or only with a plan after the free trial. */
export type NextCredits = { kind: "on" | "ends" | "trial"; at: string } | { kind: "unpaid" };

/** Reads from the latest check when more credits arrive; null if none are expected. Every screen uses this function. */
export function nextCredits(check: SubscriptionCheck): NextCredits | null {
  if (check.subscribed && check.subscription_tier === "none" && check.trial_end) return { kind: "trial", at: check.trial_end };
  if (check.next_credits_at) return { kind: "on", at: check.next_credits_at };
  if (check.status === "past_due") return { kind: "unpaid" };
  return check.cancel_at_period_end && check.subscription_end !== null ? { kind: "ends", at: check.subscription_end } : null;
}
