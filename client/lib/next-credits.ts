import type { SubscriptionCheck } from "#contract/billing.ts";

/** When there will be credits to spend again: on a day, once an invoice is paid, or not before the plan ends. */
export type NextCredits = { kind: "on" | "ends"; at: string } | { kind: "unpaid" };

/** The one answer to "when do more credits come?", from the server's last word; null where none are known to come. */
export function nextCredits(check: SubscriptionCheck): NextCredits | null {
  if (check.next_credits_at) return { kind: "on", at: check.next_credits_at };
  if (check.status === "past_due") return { kind: "unpaid" };
  return check.cancel_at_period_end && check.subscription_end !== null ? { kind: "ends", at: check.subscription_end } : null;
}
