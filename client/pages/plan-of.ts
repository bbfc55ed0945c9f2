import type { SubscriptionCheck } from "#contract/billing.ts";
import type { PlanKey } from "#domain/plans.ts";

/** The paid plan a person has now; null for nobody, and for the free trial. */
export function planOf(check: SubscriptionCheck | null): PlanKey | null {
  return check?.subscribed && check.subscription_tier !== "none" ? check.subscription_tier : null;
}
