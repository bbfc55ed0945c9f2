import { listOf } from "./api.ts";
import type { Context } from "./context.ts";
import { daySeconds, hourSeconds } from "./context.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import { announceUpcoming, createInvoice } from "./invoice-build.ts";
import { collectAutomatically } from "./invoice-collect.ts";
import type { Metadata } from "./parameters.ts";
import { nextBoundary, sameInterval } from "./periods.ts";
import { cancelSubscription, itemOf, withItem } from "./subscription-status.ts";
import { taxOff, taxOn } from "./tax-rates.ts";
import type { BillingMode, Customer, Discount, Plan, Price, Subscription, SubscriptionItem } from "./wire.ts";

/** The older form of a price, which Stripe still returns with every item. */
function planOf(price: Price): Plan {
  return {
    id: price.id,
    object: "plan",
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: "per_unit",
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? "month",
    interval_count: price.recurring?.interval_count ?? 1,
    livemode: false,
    metadata: price.metadata,
    meter: null,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: "licensed",
  };
}

function createItem(context: Context, subscription: string, price: Price, quantity: number): SubscriptionItem {
  return {
    id: newId("si", 14),
    object: "subscription_item",
    billing_thresholds: null,
    created: context.now(),
    current_period_end: nextBoundary(context.now(), price, context.now()),
    current_period_start: context.now(),
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: planOf(price),
    price,
    quantity,
    subscription,
    tax_rates: [],
  };
}

interface NewSubscription {
  customer: Customer;
  price: Price;
  quantity: number;
  billingMode: BillingMode;
  paymentMethod: string | null;
  metadata: Metadata;
  description: string | null;
  /** The days in which each invoice is to be paid by transfer; null: Stripe charges a card. */
  daysUntilDue: number | null;
  /** Stripe Tax calculates the tax of its invoices. */
  taxed: boolean;
}

/** Creates an active subscription whose first period starts now. The caller creates its first invoice. */
export function createSubscription(context: Context, fields: NewSubscription): Subscription {
  const id = newId("sub");
  const item = createItem(context, id, fields.price, fields.quantity);
  const subscription: Subscription = {
    id,
    object: "subscription",
    application: null,
    application_fee_percent: null,
    automatic_tax: fields.taxed ? taxOn : taxOff,
    billing_cycle_anchor: context.now(),
    billing_cycle_anchor_config: null,
    billing_mode:
      fields.billingMode === "classic"
        ? { flexible: null, type: "classic" }
        : { flexible: { proration_discounts: "included" }, type: "flexible", updated_at: context.now() },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: fields.daysUntilDue === null ? "charge_automatically" : "send_invoice",
    created: context.now(),
    currency: fields.price.currency,
    customer: fields.customer.id,
    customer_account: null,
    days_until_due: fields.daysUntilDue,
    default_payment_method: fields.paymentMethod,
    default_source: null,
    default_tax_rates: [],
    description: fields.description,
    discounts: [],
    ended_at: null,
    invoice_settings: { account_tax_ids: null, custom_fields: null, description: null, footer: null, issuer: { type: "self" } },
    items: listOf([item], `/v1/subscription_items?subscription=${id}`),
    latest_invoice: null,
    livemode: false,
    managed_payments: null,
    metadata: fields.metadata,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: { payment_method_options: null, payment_method_types: null, save_default_payment_method: "off" },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: context.now(),
    status: "active",
    test_clock: null,
    transfer_data: null,
    trial_end: null,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: "create_invoice" } },
    trial_start: null,
  };
  context.store.insert("subscription", subscription);
  replan(context, subscription);
  return subscription;
}

/** Stripe's default for its event `invoice.upcoming`. */
const announcedDays = 7;

/** Plans what Stripe does next by itself: the end of the subscription if one is set, else its renewal. */
export function replan(context: Context, subscription: Subscription): void {
  const periodEnd = itemOf(subscription).current_period_end;
  context.store.unplan(subscription.id);
  if (subscription.cancel_at !== null) context.store.plan(subscription.id, "end_subscription", subscription.cancel_at);
  if (subscription.cancel_at === null || subscription.cancel_at > periodEnd)
    context.store.plan(subscription.id, "renew_subscription", periodEnd);
  const announcedAt = periodEnd - announcedDays * daySeconds;
  if (subscription.cancel_at === null && announcedAt > context.now()) context.store.plan(subscription.id, "announce_invoice", announcedAt);
}

/** The subscription's discounts that have not ended by `at`. */
function currentDiscounts(context: Context, subscription: Subscription, at = context.now()): Discount[] {
  return subscription.discounts
    .map((id) => (typeof id === "string" ? context.store.find("discount", id) : undefined))
    .filter((discount) => discount !== undefined)
    .filter((discount) => discount.end === null || discount.end > at);
}

/** The subscription in its next period. */
function inNextPeriod(subscription: Subscription): Subscription {
  const item = itemOf(subscription);
  const start = item.current_period_end;
  const end = nextBoundary(subscription.billing_cycle_anchor, item.price, start);
  return withItem(subscription, { ...item, current_period_start: start, current_period_end: end });
}

/** Tells of the next renewal's invoice, some days before it exists. */
export function announceInvoice(context: Context, subscriptionId: string): void {
  const subscription = context.store.find("subscription", subscriptionId);
  const customer = subscription && context.store.find("customer", String(subscription.customer));
  if (!subscription || !customer || subscription.status === "canceled") return;
  const renewsAt = itemOf(subscription).current_period_end;
  const upcoming = {
    customer,
    subscription: inNextPeriod(subscription),
    reason: "upcoming",
    discounts: currentDiscounts(context, subscription, renewsAt),
    finalizesAt: renewsAt + hourSeconds,
    periodStart: itemOf(subscription).current_period_start,
  } as const;
  announceUpcoming(context, upcoming, renewsAt);
}

/** Starts the next period and creates the draft of its invoice, which is finalised an hour later. */
export function renewSubscription(context: Context, subscriptionId: string): void {
  const subscription = context.store.find("subscription", subscriptionId);
  const customer = subscription && context.store.find("customer", String(subscription.customer));
  if (!subscription || !customer || subscription.status === "canceled") return;
  const item = itemOf(subscription);
  const start = item.current_period_end;
  const moved = inNextPeriod(subscription);
  const invoice = createInvoice(context, {
    customer,
    subscription: moved,
    reason: "subscription_cycle",
    discounts: currentDiscounts(context, subscription),
    finalizesAt: start + hourSeconds,
    periodStart: item.current_period_start,
  });
  replan(context, saveChange(context, "subscription", "customer.subscription.updated", { ...moved, latest_invoice: invoice.id }));
}

export function endSubscription(context: Context, subscriptionId: string): void {
  const subscription = context.store.find("subscription", subscriptionId);
  if (subscription && subscription.status !== "canceled") cancelSubscription(context, subscription, "cancellation_requested");
}

/**
 * Changes the price, without proration. With the same interval the period continues. With another interval a new cycle starts
 * now and is billed at once, unless the period ends right now, since then the renewal bills it.
 */
export function changePrice(context: Context, subscription: Subscription, price: Price, quantity: number): Subscription {
  const item = itemOf(subscription);
  const repriced = withItem(subscription, { ...item, price, plan: planOf(price), quantity });
  if (sameInterval(item.price, price)) return repriced;
  const anchored = { ...repriced, billing_cycle_anchor: context.now() };
  if (item.current_period_end === context.now()) return anchored;
  return startCycle(context, anchored);
}

function startCycle(context: Context, subscription: Subscription): Subscription {
  const item = itemOf(subscription);
  const customer = context.store.get("customer", String(subscription.customer));
  const end = nextBoundary(context.now(), item.price, context.now());
  const moved = withItem(subscription, { ...item, current_period_start: context.now(), current_period_end: end });
  const invoice = createInvoice(context, {
    customer,
    subscription: moved,
    reason: "subscription_update",
    discounts: currentDiscounts(context, subscription),
    finalizesAt: null,
    periodStart: item.current_period_start,
  });
  const saved = saveChange(context, "subscription", "customer.subscription.updated", { ...moved, latest_invoice: invoice.id });
  replan(context, saved);
  collectAutomatically(context, invoice.id);
  return context.store.get("subscription", saved.id);
}

/** Emits the event for a subscription that was just bought. */
export function announceSubscription(context: Context, subscription: Subscription): void {
  emit(context, "customer.subscription.created", subscription);
}
