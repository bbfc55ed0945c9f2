/**
 * Two tabs can pay two checkouts of different plans before we know of either. A person has one subscription, so we end the later one at
 * Stripe and refund its payment. We only do this to subscriptions that our own checkout began. The decision is recorded first
 * (readings.ts), in a transaction that locks the person's row; Stripe is called after it.
 */
import type Stripe from "stripe";
import type { SubscriptionRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { idOf, isRefundedAlready } from "../../providers/stripe.ts";
import { selectDuplicates } from "./readings.ts";

const liveStatuses: readonly string[] = ["active", "trialing", "past_due"];

function isLive(subscription: Stripe.Subscription): boolean {
  return liveStatuses.includes(subscription.status) && subscription.metadata.duplicate_of === undefined;
}

function isOlder(candidate: Stripe.Subscription, subscription: Stripe.Subscription): boolean {
  if (candidate.created !== subscription.created) return candidate.created < subscription.created;
  return candidate.id < subscription.id;
}

/**
 * Returns the subscription that this one duplicates, or undefined if it is the only one. Decided from Stripe's data, so that the order of
 * events doesn't matter. The subscription in our row is kept.
 */
export async function findDoubled(
  deps: Pick<Deps, "db" | "payments">,
  current: SubscriptionRow | undefined,
  subscription: Stripe.Subscription,
): Promise<string | undefined> {
  const recorded = await selectDuplicates(deps.db, [subscription.id]);
  const marked = recorded.get(subscription.id) ?? subscription.metadata.duplicate_of;
  if (marked !== undefined) return marked;
  if (!isLive(subscription) || subscription.metadata.checkout_id === undefined) return undefined;
  if (current?.stripe_subscription_id === subscription.id) return undefined;
  const customer = idOf(subscription.customer);
  if (customer === undefined) return undefined;
  const all = await deps.payments.subscriptions.list({ customer, limit: 100 });
  const live = all.data.filter((candidate) => candidate.id !== subscription.id && isLive(candidate));
  const ending = await selectDuplicates(
    deps.db,
    live.map((candidate) => candidate.id),
  );
  const others = live.filter((candidate) => !ending.has(candidate.id));
  const kept = others.find((candidate) => candidate.id === current?.stripe_subscription_id);
  return (kept ?? others.find((candidate) => isOlder(candidate, subscription)))?.id;
}

async function refundInvoice(deps: Pick<Deps, "payments">, invoiceId: string): Promise<void> {
  const payments = await deps.payments.invoicePayments.list({ invoice: invoiceId, status: "paid", limit: 100 });
  for (const payment of payments.data) {
    const intent = idOf(payment.payment.payment_intent);
    if (intent === undefined) continue;
    try {
      await deps.payments.refunds.create({ payment_intent: intent, reason: "duplicate" }, { idempotencyKey: `duplicate:${intent}` });
    } catch (error) {
      if (!isRefundedAlready(error)) throw error;
    }
  }
}

/** Ends and refunds a recorded duplicate. Every step may be repeated, so that an interrupted try can be continued. */
export async function undoDuplicate(
  deps: Pick<Deps, "payments" | "log">,
  subscription: Stripe.Subscription,
  doubled: string,
): Promise<void> {
  const { id } = subscription;
  if (subscription.metadata.duplicate_of === undefined) {
    await deps.payments.subscriptions.update(id, { metadata: { duplicate_of: doubled } }, { idempotencyKey: `duplicate-mark:${id}` });
    deps.log.warn({ subscription: id, doubled }, "a second subscription of one person is ended and refunded");
  }
  if (subscription.status !== "canceled") {
    await deps.payments.subscriptions.cancel(id, { prorate: false, invoice_now: false }, { idempotencyKey: `duplicate-cancel:${id}` });
  }
  const paid = await deps.payments.invoices.list({ subscription: id, status: "paid", limit: 100 });
  for (const invoice of paid.data) await refundInvoice(deps, invoice.id);
}
