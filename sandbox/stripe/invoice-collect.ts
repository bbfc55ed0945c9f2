/**
 * Finalises and collects invoices. Stripe finalises a renewal's draft after an hour and charges the customer's card. A failed
 * charge is retried 1, 3, 5 and 7 days after the first attempt; then the subscription ends.
 */
import { cancelIntent, chargeIntent, createIntent, declinedError } from "./charging.ts";
import type { Context } from "./context.ts";
import { daySeconds } from "./context.ts";
import { invalidRequest } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import { defaultCard } from "./payment-methods.ts";
import { cancelSubscription, setSubscriptionStatus } from "./subscription-status.ts";
import type { Invoice, InvoicePayment, PaymentMethod, Subscription } from "./wire.ts";

const retryDays = [1, 3, 5, 7] as const;

export function subscriptionOf(context: Context, invoice: Invoice): Subscription | undefined {
  const id = invoice.parent?.subscription_details?.subscription;
  return typeof id === "string" ? context.store.find("subscription", id) : undefined;
}

export function paymentsOf(context: Context, invoiceId: string): InvoicePayment[] {
  return context.store.where("invoice_payment", [{ path: "invoice", operator: "=", value: invoiceId }]);
}

function nextNumber(context: Context, invoice: Invoice): string {
  const customer = context.store.find("customer", String(invoice.customer));
  if (!customer) return `${invoice.id.slice(-8).toUpperCase()}-0001`;
  const sequence = customer.next_invoice_sequence ?? 1;
  context.store.save("customer", { ...customer, next_invoice_sequence: sequence + 1 });
  return `${customer.invoice_prefix ?? "TESSERA"}-${String(sequence).padStart(4, "0")}`;
}

function openPayment(context: Context, invoice: Invoice, existingIntent: string | null): void {
  const fields = {
    amountCents: invoice.amount_due,
    currency: invoice.currency,
    customer: typeof invoice.customer === "string" ? invoice.customer : null,
    description: "Subscription",
    metadata: {},
    reuse: "off_session" as const,
    receiptEmail: null,
  };
  const intent = existingIntent ?? createIntent(context, fields).id;
  context.store.insert("invoice_payment", {
    id: newId("inpay"),
    object: "invoice_payment",
    amount_paid: null,
    amount_requested: invoice.amount_due,
    created: context.now(),
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intent, type: "payment_intent" },
    status: "open",
    status_transitions: { canceled_at: null, paid_at: null },
  });
}

/** Changes a draft to open; an invoice over zero is paid at once. `existingIntent` is the intent of the checkout, if there was one. */
export function finalizeInvoice(context: Context, draft: Invoice, existingIntent: string | null = null): Invoice {
  context.store.unplan(draft.id, "finalize_invoice");
  const open = context.store.save("invoice", {
    ...draft,
    automatically_finalizes_at: null,
    effective_at: context.now(),
    ending_balance: 0,
    hosted_invoice_url: `${context.origin}/i/${draft.id}`,
    number: nextNumber(context, draft),
    status: "open",
    status_transitions: { ...draft.status_transitions, finalized_at: context.now() },
  });
  if (open.amount_due > 0) openPayment(context, open, existingIntent);
  emit(context, "invoice.finalized", open);
  return open.amount_due > 0 ? open : markPaid(context, open, false);
}

function settlePayment(context: Context, invoice: Invoice, outOfBand: boolean): void {
  for (const payment of paymentsOf(context, invoice.id)) {
    if (payment.status !== "open") continue;
    if (outOfBand) {
      context.store.save("invoice_payment", {
        ...payment,
        status: "canceled",
        status_transitions: { canceled_at: context.now(), paid_at: null },
      });
      continue;
    }
    const paid = context.store.save("invoice_payment", {
      ...payment,
      amount_paid: invoice.amount_due,
      status: "paid",
      status_transitions: { canceled_at: null, paid_at: context.now() },
    });
    emit(context, "invoice_payment.paid", paid);
  }
}

function markPaid(context: Context, open: Invoice, attempted: boolean, outOfBand = false): Invoice {
  context.store.unplan(open.id);
  const paid = context.store.save("invoice", {
    ...open,
    amount_paid: open.amount_due,
    amount_remaining: 0,
    attempt_count: open.attempt_count + (attempted ? 1 : 0),
    attempted: true,
    auto_advance: false,
    next_payment_attempt: null,
    status: "paid",
    status_transitions: { ...open.status_transitions, paid_at: context.now() },
  });
  settlePayment(context, paid, outOfBand);
  emit(context, "invoice.paid", paid);
  emit(context, "invoice.payment_succeeded", paid);
  const subscription = subscriptionOf(context, paid);
  if (subscription?.latest_invoice === paid.id) setSubscriptionStatus(context, subscription.id, "active");
  return paid;
}

/** Plans the next attempt, or ends the subscription after the last one. */
function markFailed(context: Context, open: Invoice): Invoice {
  const firstAttemptAt = context.store.hidden("invoice", open.id).firstAttemptAt ?? context.now();
  context.store.hide("invoice", open.id, { firstAttemptAt });
  const collected = open.auto_advance === true;
  const offsetDays = collected ? retryDays.find((days) => firstAttemptAt + days * daySeconds > context.now()) : undefined;
  const nextAttempt = offsetDays === undefined ? null : firstAttemptAt + offsetDays * daySeconds;
  const failed = context.store.save("invoice", {
    ...open,
    attempt_count: open.attempt_count + 1,
    attempted: true,
    next_payment_attempt: nextAttempt,
  });
  emit(context, "invoice.payment_failed", failed);
  const subscription = subscriptionOf(context, failed);
  if (nextAttempt !== null) context.store.plan(failed.id, "retry_payment", nextAttempt);
  if (!subscription || subscription.status === "canceled") return failed;
  if (nextAttempt === null && collected) cancelSubscription(context, subscription, "payment_failed");
  else setSubscriptionStatus(context, subscription.id, "past_due");
  return context.store.get("invoice", failed.id);
}

/** Tries to collect an open invoice once. Without a saved card the attempt fails and there is no charge. */
export function collectInvoice(context: Context, open: Invoice, method: PaymentMethod | undefined): Invoice {
  const payment = paymentsOf(context, open.id).find((candidate) => candidate.status === "open");
  const intent = payment?.payment.payment_intent;
  if (!method || typeof intent !== "string") return markFailed(context, open);
  const { charge } = chargeIntent(context, intent, method);
  return charge.status === "succeeded" ? markPaid(context, open, true) : markFailed(context, open);
}

/** Marks the open invoice as paid, because the checkout has already charged the card. */
export function settleWith(context: Context, open: Invoice): Invoice {
  return markPaid(context, open, true);
}

/** Does what Stripe does by itself when a draft's hour is over or a retry is due. */
export function collectAutomatically(context: Context, invoiceId: string): void {
  const invoice = context.store.find("invoice", invoiceId);
  if (!invoice) return;
  const open = invoice.status === "draft" ? finalizeInvoice(context, invoice) : invoice;
  if (open.status !== "open") return;
  const subscription = subscriptionOf(context, open);
  const own = typeof subscription?.default_payment_method === "string" ? subscription.default_payment_method : null;
  collectInvoice(context, open, defaultCard(context, String(open.customer), own));
}

/** `POST /v1/invoices/:id/pay`. Throws 402 if the card is declined; the failed attempt is stored. */
export function payNow(context: Context, invoice: Invoice, method: PaymentMethod | undefined, outOfBand: boolean): Invoice {
  if (invoice.status === "paid") throw invalidRequest("Invoice is already paid", undefined, "invoice_already_paid");
  if (invoice.status === "void") throw invalidRequest("This invoice can no longer be paid: it is void.", undefined, "invoice_not_payable");
  const open = invoice.status === "draft" ? finalizeInvoice(context, invoice) : invoice;
  if (open.status === "paid") return open;
  if (outOfBand) return markPaid(context, open, false, true);
  if (!method)
    throw invalidRequest(
      "There is no `default_payment_method` set on this Customer or Invoice. Please set a default payment method.",
      undefined,
      "invoice_payment_intent_requires_action",
    );
  const result = collectInvoice(context, open, method);
  if (result.status === "paid") return result;
  const intentId = String(paymentsOf(context, open.id)[0]?.payment.payment_intent);
  const intent = context.store.get("payment_intent", intentId);
  throw declinedError(intent, context.store.get("charge", String(intent.latest_charge)));
}

export function voidInvoice(context: Context, invoice: Invoice): Invoice {
  if (invoice.status !== "open" && invoice.status !== "uncollectible")
    throw invalidRequest(
      `You can only void an open or uncollectible invoice; this one is ${String(invoice.status)}.`,
      undefined,
      "invoice_not_editable",
    );
  context.store.unplan(invoice.id);
  for (const payment of paymentsOf(context, invoice.id)) {
    if (payment.status !== "open") continue;
    context.store.save("invoice_payment", {
      ...payment,
      status: "canceled",
      status_transitions: { canceled_at: context.now(), paid_at: null },
    });
    cancelIntent(context, context.store.get("payment_intent", String(payment.payment.payment_intent)), "void_invoice");
  }
  const transitions = { ...invoice.status_transitions, voided_at: context.now() };
  const voided = saveChange(context, "invoice", "invoice.voided", {
    ...invoice,
    auto_advance: false,
    next_payment_attempt: null,
    status: "void",
    status_transitions: transitions,
  });
  const subscription = subscriptionOf(context, voided);
  if (subscription?.latest_invoice === voided.id) setSubscriptionStatus(context, subscription.id, "active");
  return voided;
}
