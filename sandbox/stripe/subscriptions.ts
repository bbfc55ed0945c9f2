import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, pageOf, retrieveRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { hourSeconds } from "./context.ts";
import { invalidRequest, resourceMissing } from "./errors.ts";
import { saveChange } from "./events.ts";
import { createInvoice } from "./invoice-build.ts";
import { refuseSmallRenewals } from "./least-charge.ts";
import type { Parameters } from "./parameters.ts";
import { requireOwnCard } from "./payment-methods.ts";
import { nextBoundary } from "./periods.ts";
import type { Filter } from "./store.ts";
import { announceSubscription, changePrice, createSubscription, replan } from "./subscription-cycle.ts";
import { cancelSubscription, itemOf } from "./subscription-status.ts";
import { requireLocation, requireTaxable, taxOff, taxOn } from "./tax-rates.ts";
import type { Customer, Price, Subscription } from "./wire.ts";

const feedbacks = [
  "customer_service",
  "low_quality",
  "missing_features",
  "other",
  "switched_service",
  "too_complex",
  "too_expensive",
  "unused",
] as const;
export const prorationBehaviours = ["none", "create_prorations", "always_invoice"] as const;

export function recurringPrice(context: Context, id: string, param: string): Price {
  const price = context.store.reference("price", id, param);
  if (price.type !== "recurring")
    throw invalidRequest(
      `The price specified is set to \`type=one_time\` but this field only accepts prices with \`type=recurring\`.`,
      param,
    );
  if (!price.active) throw invalidRequest("The price specified is inactive. This field only accepts active prices.", param);
  refuseSmallRenewals(price, param);
  return price;
}

function refuseWhereScheduled(subscription: Subscription): void {
  if (subscription.schedule === null) return;
  const message = `The subscription is managed by the subscription schedule \`${String(subscription.schedule)}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`;
  throw invalidRequest(message);
}

/** A date or, in flexible mode, the end of a period by its name. The sandbox plays no prorations, so a date within a period is refused. */
function readCancelAt(context: Context, subscription: Subscription, parameters: Parameters): number {
  const item = itemOf(subscription);
  const periodEnd = item.current_period_end;
  const text = parameters.text("cancel_at");
  if (subscription.billing_mode.type === "flexible" && (text === "min_period_end" || text === "max_period_end")) return periodEnd;
  const at = parameters.integer("cancel_at", context.now()) ?? periodEnd;
  const behaviour = parameters.oneOf("proration_behavior", prorationBehaviours) ?? "create_prorations";
  const withoutProration = at < periodEnd && behaviour === "none";
  const onBoundary = at >= periodEnd && (at === periodEnd || nextBoundary(subscription.billing_cycle_anchor, item.price, at - 1) === at);
  if (!withoutProration && !onBoundary)
    throw invalidRequest(
      "Stripe would prorate a period that this date cuts short, and the sandbox does not. Pass the end of a period, or proration_behavior=none for a date in this period.",
      "cancel_at",
    );
  return at;
}

function withCancellation(context: Context, subscription: Subscription, parameters: Parameters): Subscription {
  const atPeriodEnd = parameters.boolean("cancel_at_period_end");
  const cancelAt = parameters.text("cancel_at");
  if (atPeriodEnd !== undefined && cancelAt !== undefined)
    throw invalidRequest("Received both cancel_at_period_end and cancel_at parameters. Please pass in only one.", "cancel_at");
  const details = parameters.object("cancellation_details");
  const comment = details?.text("comment");
  const feedback = details?.oneOf("feedback", feedbacks);
  if (atPeriodEnd === undefined && cancelAt === undefined) return subscription;
  refuseWhereScheduled(subscription);
  const at = atPeriodEnd ? itemOf(subscription).current_period_end : cancelAt ? readCancelAt(context, subscription, parameters) : null;
  return {
    ...subscription,
    cancel_at: at,
    cancel_at_period_end: atPeriodEnd ?? false,
    canceled_at: at === null ? null : (subscription.canceled_at ?? context.now()),
    cancellation_details: {
      comment: comment ?? null,
      feedback: feedback ?? null,
      feedback_option: null,
      reason: at === null ? null : "cancellation_requested",
    },
  };
}

function withItems(context: Context, subscription: Subscription, parameters: Parameters): Subscription {
  const items = parameters.objects("items");
  const behaviour = parameters.oneOf("proration_behavior", prorationBehaviours) ?? "create_prorations";
  parameters.only("payment_behavior", "allow_incomplete");
  parameters.only("billing_cycle_anchor", "unchanged");
  parameters.refuse("proration_date");
  // Read and ignored: it matters only to a payment that may ask the cardholder, and a change of price collects none.
  parameters.boolean("off_session");
  const change = items?.[0];
  if (!change) return subscription;
  const item = itemOf(subscription);
  if (items.length > 1 || change.text("id") !== item.id)
    throw invalidRequest("The sandbox keeps one item per subscription: pass its id in items[0][id].", "items[0][id]");
  const priceId = change.text("price");
  const price = priceId ? recurringPrice(context, priceId, "items[0][price]") : item.price;
  const quantity = change.integer("quantity", 1, 1000) ?? item.quantity ?? 1;
  const same = price.id === item.price.id && quantity === item.quantity;
  if (same) return subscription;
  if (behaviour !== "none")
    throw invalidRequest("The sandbox changes prices with proration_behavior=none, as the product does.", "proration_behavior");
  return changePrice(context, subscription, price, quantity);
}

/** Trials at Stripe are not played: the product's own needs none. */
function refuseTrials(parameters: Parameters): void {
  parameters.refuse("trial_period_days", "trial_end", "trial_from_plan", "trial_settings");
}

/** Undefined if the call does not say it. Throws Stripe's 400 where tax can't be calculated. */
export function readAutomaticTax(context: Context, parameters: Parameters, customer: Customer, price: Price): boolean | undefined {
  const automatic = parameters.object("automatic_tax");
  automatic?.refuse("liability");
  const enabled = automatic?.boolean("enabled");
  if (!enabled) return enabled;
  requireTaxable(context, price, "items[0][price]");
  requireLocation(customer);
  return true;
}

function updateCanceled(context: Context, subscription: Subscription, parameters: Parameters): Subscription {
  const details = parameters.object("cancellation_details");
  const before = subscription.cancellation_details;
  const comment = details?.text("comment");
  const feedback = details?.oneOf("feedback", feedbacks);
  const metadata = parameters.metadata("metadata", subscription.metadata);
  if (parameters.unread() !== undefined)
    throw invalidRequest(
      "A canceled subscription can only update its cancellation_details and metadata.",
      undefined,
      "invalid_canceled_subscription_fields",
    );
  return saveChange(context, "subscription", "customer.subscription.updated", {
    ...subscription,
    cancellation_details: {
      comment: comment === undefined ? (before?.comment ?? null) : comment,
      feedback: feedback === undefined ? (before?.feedback ?? null) : feedback,
      feedback_option: null,
      reason: before?.reason ?? null,
    },
    metadata,
  });
}

function update({ context, id, parameters }: ApiCall): Subscription {
  const before = context.store.get("subscription", id);
  if (before.status === "canceled") return updateCanceled(context, before, parameters);
  const method = parameters.text("default_payment_method");
  if (method) requireOwnCard(context, method, String(before.customer), "default_payment_method");
  const description = parameters.text("description");
  refuseTrials(parameters);
  parameters.refuse("discounts", "pause_collection", "add_invoice_items", "collection_method", "days_until_due", "payment_settings");
  const customer = context.store.get("customer", String(before.customer));
  const changed = withItems(context, withCancellation(context, before, parameters), parameters);
  const taxed = readAutomaticTax(context, parameters, customer, itemOf(changed).price);
  const after = saveChange(context, "subscription", "customer.subscription.updated", {
    ...changed,
    automatic_tax: taxed === undefined ? changed.automatic_tax : taxed ? taxOn : taxOff,
    default_payment_method: method === undefined ? changed.default_payment_method : method,
    description: description === undefined ? changed.description : description,
    metadata: parameters.metadata("metadata", changed.metadata),
  });
  replan(context, after);
  return after;
}

function cancel({ context, id, parameters }: ApiCall): Subscription {
  const subscription = context.store.get("subscription", id);
  if (subscription.status === "canceled") throw resourceMissing("subscription", id, "id");
  parameters.only("invoice_now", "false");
  parameters.only("prorate", "false");
  const details = parameters.object("cancellation_details");
  const comment = details?.text("comment") ?? null;
  const feedback = details?.oneOf("feedback", feedbacks) ?? null;
  const explained = { ...subscription, cancellation_details: { comment, feedback, feedback_option: null, reason: null } };
  return cancelSubscription(context, explained, "cancellation_requested");
}

/**
 * Only subscriptions that are paid by transfer: the others begin with a checkout. As at Stripe such a one is active at once, and its first
 * invoice is a draft for an hour, or until it is finalised.
 */
function create({ context, parameters }: ApiCall): Subscription {
  const customer = context.store.reference("customer", parameters.requiredText("customer"), "customer");
  parameters.only("collection_method", "send_invoice");
  if (!parameters.has("collection_method"))
    throw invalidRequest("The sandbox creates subscriptions that are paid by card with a checkout.", "collection_method");
  refuseTrials(parameters);
  parameters.refuse(
    "payment_settings",
    "payment_behavior",
    "default_tax_rates",
    "discounts",
    "default_payment_method",
    "billing_cycle_anchor",
    "add_invoice_items",
    "cancel_at",
    "cancel_at_period_end",
  );
  const daysUntilDue = parameters.requiredInteger("days_until_due", 0, 730);
  const [first, ...others] = parameters.objects("items") ?? [];
  if (!first || others.length > 0) throw invalidRequest("The sandbox keeps one item per subscription.", "items");
  const price = recurringPrice(context, first.requiredText("price"), "items[0][price]");
  const taxed = readAutomaticTax(context, parameters, customer, price) ?? false;
  const subscription = createSubscription(context, {
    customer,
    price,
    taxed,
    quantity: first.integer("quantity", 1, 1000) ?? 1,
    billingMode: "flexible",
    paymentMethod: null,
    metadata: parameters.metadata("metadata"),
    description: parameters.text("description") ?? null,
    daysUntilDue,
  });
  const invoice = createInvoice(context, {
    customer,
    subscription,
    reason: "subscription_create",
    discounts: [],
    finalizesAt: context.now() + hourSeconds,
    periodStart: context.now(),
  });
  const saved = context.store.save("subscription", { ...subscription, latest_invoice: invoice.id });
  announceSubscription(context, saved);
  return saved;
}

function listFilters(parameters: Parameters): Filter[] {
  const status = parameters.oneOf("status", [
    "active",
    "past_due",
    "canceled",
    "incomplete",
    "incomplete_expired",
    "trialing",
    "unpaid",
    "paused",
    "all",
    "ended",
  ]);
  const filters = equalityFilters(parameters, { customer: "customer", price: "items.data[0].price.id" });
  if (status === "all") return filters;
  if (status === undefined) return [...filters, { path: "status", operator: "!=", value: "canceled" }];
  return [...filters, { path: "status", operator: "=", value: status === "ended" ? "canceled" : status }];
}

export const subscriptionRoutes: ApiRoute[] = [
  listRoute("subscription", "/v1/subscriptions", listFilters),
  retrieveRoute("subscription", "/v1/subscriptions"),
  { method: "POST", url: "/v1/subscriptions", handle: create },
  { method: "POST", url: "/v1/subscriptions/:id", handle: update },
  { method: "DELETE", url: "/v1/subscriptions/:id", handle: cancel },
  {
    method: "GET",
    url: "/v1/subscription_items",
    handle: ({ context, parameters }) => {
      const subscription = context.store.reference("subscription", parameters.requiredText("subscription"), "subscription");
      return pageOf(subscription.items.data, "/v1/subscription_items", parameters);
    },
  },
];
