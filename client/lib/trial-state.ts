import type { SubscriptionCheck } from "#contract/billing/subscription.ts";

/**
 * What the person can be told of the free trial: they may start it, it runs, or it was the last they had. Null for people who have, or had, a
 * plan since, and while a first payment is open.
 */
export function trialStateOf(check: SubscriptionCheck): "offered" | "running" | "ended" | null {
  if (check.subscribed) return check.subscription_tier === "none" ? "running" : null;
  if (check.can_start_trial) return check.status === "incomplete" ? null : "offered";
  return check.trial_end !== null && check.status === "none" ? "ended" : null;
}
