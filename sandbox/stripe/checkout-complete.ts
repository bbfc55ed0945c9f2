import { declineMessage } from "./charge-build.ts";
import { cancelIntent, chargeIntent, createIntent, refuseAuthentication, requireAuthentication } from "./charging.ts";
import type { GivenDetails } from "./checkout-tax.ts";
import { keepDetails, settleDetails } from "./checkout-tax.ts";
import type { Context } from "./context.ts";
import { endDiscount, redeemableCoupon, redeemCoupon } from "./coupons.ts";
import { createCustomer } from "./customers.ts";
import { invalidRequest } from "./errors.ts";
import { emit } from "./events.ts";
import { createInvoice, createOrderInvoice } from "./invoice-build.ts";
import { finalizeInvoice, settleWith } from "./invoice-collect.ts";
import type { CardBehaviour } from "./kinds.ts";
import { asksHolder, createCard, methodTypesFor, refuseOtherCurrency } from "./payment-methods.ts";
import { announceSubscription, createSubscription } from "./subscription-cycle.ts";
import type { Charge, CheckoutSession, Customer, Discount, Invoice, PaymentIntent, PaymentMethod } from "./wire.ts";

/**
 * `authentication`: the cardholder has to answer the bank. `paid` is also the result for a session that was paid before, and for one whose
 * debit is on its way.
 */
export type PaymentResult =
  | { kind: "paid"; session: CheckoutSession }
  | { kind: "declined"; intent: PaymentIntent; charge: Charge | null }
  | { kind: "authentication"; intent: PaymentIntent };

export function successAddress(session: CheckoutSession): string {
  return (session.success_url ?? "").replaceAll("{CHECKOUT_SESSION_ID}", session.id);
}

function customerOf(context: Context, session: CheckoutSession): Customer | null {
  if (typeof session.customer === "string") return context.store.get("customer", session.customer);
  const { invoice, reuse } = context.store.hidden("checkout.session", session.id);
  if (session.mode === "payment" && session.customer_creation !== "always" && !invoice && !reuse) return null;
  return createCustomer(context, {
    email: session.customer_email ?? "guest@example.com",
    name: null,
    description: null,
    phone: null,
    metadata: {},
    locales: [],
  });
}

/** All attempts to pay a session use the same intent, as at Stripe. */
function intentOf(context: Context, session: CheckoutSession): PaymentIntent {
  const hidden = context.store.hidden("checkout.session", session.id);
  if (hidden.paymentIntent !== null) return context.store.get("payment_intent", hidden.paymentIntent);
  const intent = createIntent(context, {
    amountCents: session.amount_total ?? 0,
    currency: session.currency ?? "usd",
    customer: typeof session.customer === "string" ? session.customer : null,
    description: session.mode === "subscription" ? "Subscription creation" : hidden.description,
    metadata: session.mode === "subscription" ? {} : hidden.paymentIntentMetadata,
    reuse: session.mode === "subscription" ? "off_session" : hidden.reuse,
    receiptEmail: hidden.receiptEmail,
    methodTypes: methodTypesFor(session.currency ?? "usd"),
  });
  context.store.hide("checkout.session", session.id, { ...hidden, paymentIntent: intent.id });
  return intent;
}

function rememberFailure(context: Context, session: CheckoutSession, failure: string | null): void {
  context.store.hide("checkout.session", session.id, { ...context.store.hidden("checkout.session", session.id), failure });
}

/** A debit that is on its way completes the session, and leaves it unpaid. */
function complete(
  context: Context,
  session: CheckoutSession,
  intent: PaymentIntent | null,
  fields: Partial<CheckoutSession>,
): CheckoutSession {
  context.store.unplan(session.id);
  rememberFailure(context, session, null);
  const status = intent?.status === "processing" ? "unpaid" : "paid";
  const paid = context.store.save("checkout.session", {
    ...session,
    ...fields,
    payment_status: session.amount_total === 0 ? "no_payment_required" : status,
    status: "complete",
    url: null,
  });
  emit(context, "checkout.session.completed", paid);
  return paid;
}

function redeem(context: Context, session: CheckoutSession, customer: string | null, subscription: string | null): Discount[] {
  const id = context.store.hidden("checkout.session", session.id).coupon;
  if (id === null) return [];
  const coupon = redeemableCoupon(context, id, "discounts[0][coupon]");
  return [redeemCoupon(context, coupon, { customer, session: session.id, subscription })];
}

/**
 * Creates the subscription and its first invoice, and completes the session. The card has been charged with `intent`, or the total was zero.
 * While a debit is on its way the subscription is active at once and its invoice open, as Stripe documents
 * (docs.stripe.com/billing/subscriptions/overview, "Payment methods with delayed payment confirmation").
 */
function openSubscription(
  context: Context,
  session: CheckoutSession,
  customer: Customer,
  method: PaymentMethod,
  intent: PaymentIntent | null,
): CheckoutSession {
  const hidden = context.store.hidden("checkout.session", session.id);
  const line = hidden.lines[0];
  if (!line) throw new Error(`session ${session.id} has no line`);
  const price = context.store.get("price", line.price);
  const created = createSubscription(context, {
    daysUntilDue: null,
    taxed: session.automatic_tax.enabled,
    customer,
    price,
    quantity: line.quantity,
    billingMode: hidden.billingMode,
    paymentMethod: method.id,
    metadata: hidden.subscriptionMetadata,
    description: hidden.description,
  });
  const discounts = redeem(context, session, customer.id, created.id);
  // A coupon of duration `once` applies to the first invoice only; others stay on the subscription.
  const lasting = discounts.filter((discount) => context.store.find("coupon", String(discount.source.coupon))?.duration !== "once");
  const subscription = context.store.save("subscription", { ...created, discounts: lasting.map((discount) => discount.id) });
  const draft = createInvoice(context, {
    customer,
    subscription,
    reason: "subscription_create",
    discounts,
    finalizesAt: null,
    periodStart: context.now(),
  });
  announceSubscription(context, context.store.save("subscription", { ...subscription, latest_invoice: draft.id }));
  for (const discount of discounts) if (!lasting.includes(discount)) endDiscount(context, discount.id);
  const open = finalizeInvoice(context, draft, intent?.id ?? null);
  if (open.status === "open") settleWith(context, open);
  return complete(context, session, intent, {
    customer: customer.id,
    invoice: draft.id,
    subscription: subscription.id,
    customer_details: detailsOf(session, customer),
  });
}

function detailsOf(session: CheckoutSession, customer: Customer | null): CheckoutSession["customer_details"] {
  const email = customer?.email ?? session.customer_details?.email ?? null;
  return {
    address: session.customer_details?.address ?? null,
    business_name: session.customer_details?.business_name ?? null,
    email,
    individual_name: null,
    name: customer?.name ?? null,
    phone: customer?.phone ?? null,
    tax_exempt: "none",
    tax_ids: session.customer_details?.tax_ids ?? [],
  };
}

function charge(context: Context, session: CheckoutSession, method: PaymentMethod, customer: Customer | null): PaymentResult {
  const intent = intentOf(context, session);
  context.store.save("payment_intent", { ...intent, customer: customer?.id ?? null });
  // The cardholder is there, and has answered their bank where it asked.
  const result = chargeIntent(context, intent.id, method, "authenticated");
  if (result.charge.status === "failed") {
    rememberFailure(context, session, declineMessage);
    return { kind: "declined", intent: result.intent, charge: result.charge };
  }
  if (result.charge.status === "pending")
    context.store.hide("charge", result.charge.id, { ...context.store.hidden("charge", result.charge.id), session: session.id });
  return finish(context, session, method, customer, result.intent);
}

function finish(
  context: Context,
  session: CheckoutSession,
  method: PaymentMethod,
  payer: Customer | null,
  intent: PaymentIntent | null,
): PaymentResult {
  const customer = payer && keepDetails(context, session, payer);
  if (session.mode === "subscription" && customer)
    return { kind: "paid", session: openSubscription(context, session, customer, method, intent) };
  const discounts = redeem(context, session, customer?.id ?? null, null);
  // Stripe makes the invoice of a single payment "as soon as the payment succeeds" (docs.stripe.com/payments/checkout/post-payment-invoices).
  const invoice = customer && intent?.status !== "processing" ? invoiceOrder(context, session, customer, discounts, intent) : null;
  return {
    kind: "paid",
    session: complete(context, session, intent, {
      customer: customer?.id ?? null,
      invoice: invoice?.id ?? null,
      payment_intent: intent?.id ?? null,
      customer_details: detailsOf(session, customer),
    }),
  };
}

/** The paid invoice of a single payment, if the session asked for one. */
export function invoiceOrder(
  context: Context,
  session: CheckoutSession,
  customer: Customer,
  discounts: Discount[],
  intent: PaymentIntent | null,
): Invoice | null {
  const { invoice, items } = context.store.hidden("checkout.session", session.id);
  if (!invoice) return null;
  const taxed = session.automatic_tax.enabled;
  const draft = createOrderInvoice(context, { customer, currency: session.currency ?? "usd", items, discounts, taxed, ...invoice });
  const open = finalizeInvoice(context, draft, intent?.id ?? null);
  return open.status === "open" ? settleWith(context, open) : open;
}

/** Whether the card is the customer's from now on. */
function savesCard(context: Context, session: CheckoutSession): boolean {
  return session.mode === "subscription" || context.store.hidden("checkout.session", session.id).reuse !== null;
}

/** A declined card is not attached to the customer, so that it can't become the default card. */
function newCard(context: Context, session: CheckoutSession, card: CardBehaviour, customer: Customer | null): PaymentMethod {
  const attached = card === "declined" || !savesCard(context, session) ? null : (customer?.id ?? null);
  return createCard(context, card, attached, customer?.email ?? session.customer_email);
}

/** Throws 400 if the session has expired. */
function openSession(context: Context, id: string): CheckoutSession {
  const session = context.store.get("checkout.session", id, "session");
  if (session.status === "expired") throw invalidRequest("This Checkout Session has expired.", "session", "checkout_session_expired");
  return session;
}

/**
 * Pays a session with a test card. Paying it again gives the same result and has no effect: a session creates one
 * subscription. With `waits`, a card that asks for authentication waits for `answerAuthentication`.
 */
export function paySession(
  context: Context,
  sessionId: string,
  { card, waits, ...given }: GivenDetails & { card: CardBehaviour; waits: boolean },
): PaymentResult {
  const open = openSession(context, sessionId);
  if (open.status === "complete") return { kind: "paid", session: open };
  refuseOtherCurrency(card, open.currency ?? "usd");
  const session = settleDetails(context, open, given);
  if (card === "declined" && (session.amount_total ?? 0) > 0) return charge(context, session, newCard(context, session, card, null), null);
  if (asksHolder(card) && (session.amount_total ?? 0) > 0) {
    const method = newCard(context, session, card, null);
    const intent = requireAuthentication(context, intentOf(context, session).id, method, `${context.origin}/c/pay/${session.id}`);
    rememberFailure(context, session, null);
    return waits ? { kind: "authentication", intent } : answerAuthentication(context, sessionId, true);
  }
  const customer = customerOf(context, session);
  const method = newCard(context, session, card, customer);
  return session.amount_total === 0 ? finish(context, session, method, customer, null) : charge(context, session, method, customer);
}

/** The intent of a session that waits for authentication; undefined if it does not. */
export function awaitingAuthentication(context: Context, sessionId: string): PaymentIntent | undefined {
  const id = context.store.hidden("checkout.session", sessionId).paymentIntent;
  const intent = id === null ? undefined : context.store.find("payment_intent", id);
  return intent?.status === "requires_action" ? intent : undefined;
}

/** The cardholder has answered the bank: if approved the card is charged, else the session waits for another card. */
export function answerAuthentication(context: Context, sessionId: string, approved: boolean): PaymentResult {
  const session = openSession(context, sessionId);
  if (session.status === "complete") return { kind: "paid", session };
  const intent = awaitingAuthentication(context, sessionId);
  if (!intent) throw invalidRequest("This Checkout Session is not waiting for authentication.", "session");
  if (!approved) {
    rememberFailure(context, session, "We could not authenticate your card. Nothing was charged. Choose another card, or try again.");
    return { kind: "declined", intent: refuseAuthentication(context, intent.id), charge: null };
  }
  const customer = customerOf(context, session);
  const method = context.store.get("payment_method", String(intent.payment_method));
  const attached =
    customer && savesCard(context, session) ? context.store.save("payment_method", { ...method, customer: customer.id }) : method;
  if (attached !== method) emit(context, "payment_method.attached", attached);
  return charge(context, session, attached, customer);
}

/** Cancels the unpaid intent of an expired session. */
export function abandonIntent(context: Context, sessionId: string): void {
  const id = context.store.hidden("checkout.session", sessionId).paymentIntent;
  const intent = id === null ? undefined : context.store.find("payment_intent", id);
  if (intent && intent.status !== "succeeded" && intent.status !== "canceled") cancelIntent(context, intent, "abandoned");
}
