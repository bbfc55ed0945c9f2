import type { SubscriptionCheck } from "#contract/billing/subscription.ts";

/** Until when the plan gives access: to the end of its period, but with an unpaid renewal only to the last day of grace. */
export function accessEnd({ unpaid, subscription_end: periodEnd }: SubscriptionCheck): string | null {
  return unpaid?.until ?? periodEnd;
}

/** Whether the access ends then, as things stand, instead of being renewed. */
export function isLastPeriod({ unpaid, cancel_at_period_end: ends }: SubscriptionCheck): boolean {
  return ends || Boolean(unpaid?.until);
}
