/** Cancelling a plan to the end of its period, and taking that back. */
import type Stripe from "stripe";
import { fromStripeStatus } from "#domain/subscription.ts";
import type { SubscriptionCheck } from "../../contract/billing/subscription.ts";
import type { Deps } from "../../deps.ts";
import { idOf } from "../../providers/stripe.ts";
import { endAtStripe } from "./end-at-stripe.ts";
import { changeRunning, isEnding, writeKey } from "./running-subscription.ts";

/** Stripe refuses to cancel a subscription with a planned change of plan, so that goes first. */
export async function cancelAtStripe(
  { payments }: Pick<Deps, "payments">,
  { id, schedule }: Pick<Stripe.Subscription, "id" | "schedule">,
  metadata: Record<string, string> = {},
): Promise<void> {
  const scheduleId = idOf(schedule);
  if (scheduleId !== undefined) await payments.subscriptionSchedules.release(scheduleId, {}, writeKey());
  await payments.subscriptions.update(id, { cancel_at_period_end: true, metadata }, writeKey());
}

/**
 * Throws `no_running_plan`, `plan_unpaid`, `payment_provider_unavailable`. Does nothing if the plan is ending already. A plan on hold gives
 * nothing until the end of its period, so it ends at once, and nobody has to pay its open invoices. `before`: runs right before Stripe is asked to.
 */
export async function cancelPlan(deps: Deps, userId: string, before?: () => Promise<void>): Promise<SubscriptionCheck> {
  return changeRunning(deps, userId, async (running) => {
    const { id, status } = running.subscription;
    const isSuspended = fromStripeStatus(status) === "suspended";
    if (!isSuspended && isEnding(running)) return;
    await before?.();
    if (isSuspended) await endAtStripe(deps, id, "suspended");
    else await cancelAtStripe(deps, running.subscription);
  });
}

/** Works like `cancelPlan`, but does nothing if the plan renews anyway. */
export async function resumePlan(deps: Deps, userId: string, before?: () => Promise<void>): Promise<SubscriptionCheck> {
  return changeRunning(deps, userId, async ({ subscription: { id, cancel_at: cancelAt, cancel_at_period_end: atPeriodEnd } }) => {
    if (!atPeriodEnd && cancelAt === null) return;
    await before?.();
    // In the flexible billing mode the portal sets the date alone, and Stripe accepts only one of the two at once.
    await deps.payments.subscriptions.update(id, atPeriodEnd ? { cancel_at_period_end: false } : { cancel_at: "" }, writeKey());
  });
}
