import type { SubscriptionCheck } from "#contract/billing/subscription.ts";

/**
 * The free trial's state for this person: they may start it, it is running, or it has ended and they have had no plan since. Null for
 * people who have or had a plan, and while a first payment is open.
 */
export function trialStateOf(check: SubscriptionCheck): "offered" | "running" | "ended" | null {
  if (check.subscribed) return check.subscription_tier === "none" ? "running" : null;
  if (check.can_start_trial) return check.status === "incomplete" ? null : "offered";
  return check.trial_end !== null && check.status === "none" ? "ended" : null;
}
