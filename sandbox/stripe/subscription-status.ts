import type { Context } from "./context.ts";
import { emit, saveChange } from "./events.ts";
import type { Subscription, SubscriptionItem, SubscriptionSchedule } from "./wire.ts";

export type CancellationReason = "cancellation_requested" | "payment_failed" | "payment_disputed";

/** The subscription's only item: the product's subscriptions have one. */
export function itemOf(subscription: Subscription): SubscriptionItem {
  const item = subscription.items.data[0];
  if (!item) throw new Error(`subscription ${subscription.id} has no item`);
  return item;
}

export function withItem(subscription: Subscription, item: SubscriptionItem): Subscription {
  return { ...subscription, items: { ...subscription.items, data: [item] } };
}

/** Releases the schedule: its subscription continues unchanged. */
export function releaseSchedule(context: Context, schedule: SubscriptionSchedule): SubscriptionSchedule {
  context.store.unplan(schedule.id);
  const subscriptionId = typeof schedule.subscription === "string" ? schedule.subscription : null;
  const released = saveChange(context, "subscription_schedule", "subscription_schedule.released", {
    ...schedule,
    current_phase: null,
    released_at: context.now(),
    released_subscription: subscriptionId,
    status: "released",
    subscription: null,
  });
  const subscription = subscriptionId === null ? undefined : context.store.find("subscription", subscriptionId);
  if (subscription) saveChange(context, "subscription", "customer.subscription.updated", { ...subscription, schedule: null });
  return released;
}

function stopInvoices(context: Context, subscriptionId: string): void {
  const filter = { path: "parent.subscription_details.subscription", operator: "=", value: subscriptionId } as const;
  for (const invoice of context.store.where("invoice", [filter])) {
    if (invoice.status !== "draft" && invoice.status !== "open") continue;
    context.store.unplan(invoice.id);
    saveChange(context, "invoice", "invoice.updated", {
      ...invoice,
      auto_advance: false,
      automatically_finalizes_at: null,
      next_payment_attempt: null,
    });
  }
}

/** Ends the subscription now. Its unpaid invoices stay open, but Stripe stops collecting them. */
export function cancelSubscription(context: Context, subscription: Subscription, reason: CancellationReason): Subscription {
  context.store.unplan(subscription.id);
  stopInvoices(context, subscription.id);
  const schedule =
    typeof subscription.schedule === "string" ? context.store.find("subscription_schedule", subscription.schedule) : undefined;
  if (schedule?.status === "active") {
    context.store.unplan(schedule.id);
    saveChange(context, "subscription_schedule", "subscription_schedule.canceled", {
      ...schedule,
      canceled_at: context.now(),
      current_phase: null,
      status: "canceled",
    });
  }
  const canceled = context.store.save("subscription", {
    ...subscription,
    canceled_at: subscription.canceled_at ?? context.now(),
    cancellation_details: {
      comment: subscription.cancellation_details?.comment ?? null,
      feedback: subscription.cancellation_details?.feedback ?? null,
      feedback_option: null,
      reason,
    },
    ended_at: context.now(),
    status: "canceled",
  });
  emit(context, "customer.subscription.deleted", canceled);
  return canceled;
}

/** Sets the status that follows from the payment of the newest invoice. */
export function setSubscriptionStatus(context: Context, subscriptionId: string, status: "active" | "past_due"): void {
  const subscription = context.store.find("subscription", subscriptionId);
  if (!subscription || subscription.status === "canceled" || subscription.status === status) return;
  saveChange(context, "subscription", "customer.subscription.updated", { ...subscription, status });
}
