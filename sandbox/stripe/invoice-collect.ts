/**
 * Finalises and collects invoices. Stripe finalises a renewal's draft after an hour and charges the customer's card. A failed charge is
 * retried 8 times within 2 weeks, which is Stripe's default; then the subscription ends. Stripe chooses the times; here they are fixed.
 */
import { chargeIntent, createIntent } from "./charging.ts";
import type { Context } from "./context.ts";
import { daySeconds } from "./context.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import type { Attempt } from "./kinds.ts";
import { defaultCard, methodTypesFor } from "./payment-methods.ts";
import { cancelSubscription, setSubscriptionStatus } from "./subscription-status.ts";
import { settleTax } from "./tax-rates.ts";
import type { Charge, Invoice, InvoicePayment, PaymentMethod, Subscription } from "./wire.ts";

const retryDays = [1, 2, 4, 6, 8, 10, 12, 14] as const;

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
    methodTypes: methodTypesFor(invoice.currency),
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

/** The customer's location is missing: Stripe switches the tax of the subscription off until somebody switches it on again. */
function disableTax(context: Context, invoice: Invoice): void {
  const subscription = subscriptionOf(context, invoice);
  if (!subscription) return;
  const automatic = { disabled_reason: "requires_location_inputs", enabled: false, liability: null } as const;
  saveChange(context, "subscription", "customer.subscription.updated", { ...subscription, automatic_tax: automatic });
}

/** Changes a draft to open; an invoice over zero is paid at once. `existingIntent` is the intent of the checkout, if there was one. */
export function finalizeInvoice(context: Context, draft: Invoice, existingIntent: string | null = null): Invoice {
  context.store.unplan(draft.id, "finalize_invoice");
  const taxed = settleTax(draft, context);
  if (draft.automatic_tax.enabled && !taxed.automatic_tax.enabled) disableTax(context, draft);
  const open: Invoice = {
    ...taxed,
    automatically_finalizes_at: null,
    effective_at: context.now(),
    ending_balance: 0,
    hosted_invoice_url: `${context.origin}/i/${draft.id}`,
    invoice_pdf: `${context.origin}/i/${draft.id}/pdf`,
    number: nextNumber(context, draft),
    status: "open",
    status_transitions: { ...draft.status_transitions, finalized_at: context.now() },
  };
  if (open.amount_due > 0) openPayment(context, open, existingIntent);
  if (open.amount_due > 0 && open.due_date !== null) context.store.plan(open.id, "overdue_invoice", open.due_date);
  saveChange(context, "invoice", "invoice.updated", open);
  emit(context, "invoice.finalized", open);
  return open.amount_due > 0 ? open : markPaid(context, open, null);
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

/** The first attempt counts whoever starts it. After it, only attempts of Stripe's schedule count. */
function attemptsAfter(open: Invoice, attempt: Attempt): number {
  return open.attempt_count + (open.attempt_count === 0 || attempt === "automatic" ? 1 : 0);
}

/** `attempt` is null for an invoice that nobody had to pay through Stripe. */
export function markPaid(context: Context, open: Invoice, attempt: Attempt | null, outOfBand = false): Invoice {
  context.store.unplan(open.id);
  const paid = saveChange(context, "invoice", "invoice.updated", {
    ...open,
    amount_paid: open.amount_due,
    amount_remaining: 0,
    attempt_count: attempt === null ? open.attempt_count : attemptsAfter(open, attempt),
    attempted: true,
    auto_advance: false,
    next_payment_attempt: null,
    status: "paid",
    status_transitions: { ...open.status_transitions, paid_at: context.now() },
  });
  settlePayment(context, paid, outOfBand);
  emit(context, "invoice.paid", paid);
  emit(context, "invoice.payment_succeeded", paid);
  setDelinquent(context, paid, false);
  const subscription = subscriptionOf(context, paid);
  if (subscription?.latest_invoice === paid.id) setSubscriptionStatus(context, subscription.id, "active");
  return paid;
}

export function setDelinquent(context: Context, invoice: Invoice, delinquent: boolean): void {
  const customer = context.store.find("customer", String(invoice.customer));
  if (customer) saveChange(context, "customer", "customer.updated", { ...customer, delinquent });
}

/** Plans the next try of an invoice that Stripe collects by itself: null after the last one. */
function nextTry(context: Context, open: Invoice): number | null {
  const hidden = context.store.hidden("invoice", open.id);
  const firstAttemptAt = hidden.firstAttemptAt ?? context.now();
  context.store.hide("invoice", open.id, { ...hidden, firstAttemptAt });
  const days = retryDays.find((offset) => firstAttemptAt + offset * daySeconds > context.now());
  const at = days === undefined ? null : firstAttemptAt + days * daySeconds;
  if (at !== null) context.store.plan(open.id, "retry_payment", at);
  return at;
}

/** Counts an attempt that failed or was not made. After the last one of the schedule the subscription ends. */
function countFailure(context: Context, open: Invoice, attempt: Attempt): { invoice: Invoice; last: boolean } {
  const collected = open.auto_advance === true;
  // A person's attempt after the first leaves the schedule as it is.
  const scheduled = collected && (attempt === "automatic" || open.attempt_count === 0);
  const nextAttempt = scheduled ? nextTry(context, open) : open.next_payment_attempt;
  const invoice = saveChange(context, "invoice", "invoice.updated", {
    ...open,
    attempt_count: attemptsAfter(open, attempt),
    attempted: true,
    next_payment_attempt: collected ? nextAttempt : null,
  });
  return { invoice, last: scheduled && nextAttempt === null };
}

function afterFailure(context: Context, { invoice, last }: { invoice: Invoice; last: boolean }): Invoice {
  const subscription = subscriptionOf(context, invoice);
  if (!subscription || subscription.status === "canceled") return invoice;
  if (last) cancelSubscription(context, subscription, "payment_failed");
  else setSubscriptionStatus(context, subscription.id, "past_due");
  return context.store.get("invoice", invoice.id);
}

function markFailed(context: Context, open: Invoice, attempt: Attempt, actionRequired: boolean): Invoice {
  const counted = countFailure(context, open, attempt);
  emit(context, "invoice.payment_failed", counted.invoice);
  if (actionRequired) emit(context, "invoice.payment_action_required", counted.invoice);
  if (attempt === "automatic") setDelinquent(context, open, true);
  return afterFailure(context, counted);
}

/** Tries to collect an open invoice once. Without a saved card the first attempt fails and there is no charge. */
export function collectInvoice(context: Context, open: Invoice, method: PaymentMethod | undefined, attempt: Attempt): Invoice {
  const hidden = context.store.hidden("invoice", open.id);
  const usable = method !== undefined && method.id !== hidden.refusedCard;
  // Stripe's schedule goes on without a card that it may charge, but it makes no attempt.
  if (attempt === "automatic" && !usable && open.attempt_count > 0) return afterFailure(context, countFailure(context, open, attempt));
  const intent = openIntentOf(context, open);
  if (!method || intent === undefined) return markFailed(context, open, attempt, false);
  const { charge } = chargeIntent(context, intent, method, "off_session");
  if (charge.status === "pending") return awaitDebit(context, open, charge, attempt);
  if (charge.status === "succeeded") return markPaid(context, open, attempt);
  const actionRequired = charge.failure_code === "authentication_required";
  if (actionRequired) context.store.hide("invoice", open.id, { ...hidden, refusedCard: method.id });
  return markFailed(context, open, attempt, actionRequired);
}

/** The intent that an open invoice is paid with. */
export function openIntentOf(context: Context, open: Invoice): string | undefined {
  const payment = paymentsOf(context, open.id).find((candidate) => candidate.status === "open");
  const intent = payment?.payment.payment_intent;
  return typeof intent === "string" ? intent : undefined;
}

/** Charges a card whose holder is on the invoice's page and has answered their bank where it asked. */
export function payAsCardholder(context: Context, open: Invoice, intent: string, method: PaymentMethod): Invoice {
  const { charge } = chargeIntent(context, intent, method, "authenticated");
  if (charge.status === "pending") return awaitDebit(context, open, charge, "manual");
  return charge.status === "succeeded" ? markPaid(context, open, "manual") : markFailed(context, open, "manual", false);
}

/** The debit that an invoice waits for; undefined if it waits for none. */
export function debitOf(context: Context, invoice: Invoice): Charge | undefined {
  const id = openIntentOf(context, invoice);
  const intent = id === undefined ? undefined : context.store.find("payment_intent", id);
  return intent?.status === "processing" ? context.store.find("charge", String(intent.latest_charge)) : undefined;
}

/** The attempt is made and counted, and the invoice stays open until the bank has answered. */
function awaitDebit(context: Context, open: Invoice, charge: Charge, attempt: Attempt): Invoice {
  const hidden = context.store.hidden("charge", charge.id);
  context.store.hide("charge", charge.id, { ...hidden, attempt, attemptsBefore: open.attempt_count });
  return saveChange(context, "invoice", "invoice.updated", {
    ...open,
    attempt_count: attemptsAfter(open, attempt),
    attempted: true,
    // A person's attempt leaves the schedule as it is.
    next_payment_attempt: attempt === "automatic" ? null : open.next_payment_attempt,
  });
}

/** The bank has answered the debit that an invoice waits for. */
export function endAttempt(context: Context, invoice: Invoice, charge: Charge): Invoice {
  const { attempt, attemptsBefore } = context.store.hidden("charge", charge.id);
  // The attempt was counted when it was made.
  const before = { ...invoice, attempt_count: attemptsBefore };
  return charge.status === "succeeded" ? markPaid(context, before, attempt) : markFailed(context, before, attempt, false);
}

/** Marks the open invoice as paid, because the checkout has already charged the card, or lets it wait for the checkout's debit. */
export function settleWith(context: Context, open: Invoice): Invoice {
  const debit = debitOf(context, open);
  return debit ? awaitDebit(context, open, debit, "automatic") : markPaid(context, open, "automatic");
}

/** Does what Stripe does by itself when a draft's hour is over or a retry is due. */
export function collectAutomatically(context: Context, invoiceId: string): void {
  const invoice = context.store.find("invoice", invoiceId);
  if (!invoice) return;
  const open = invoice.status === "draft" ? finalizeInvoice(context, invoice) : invoice;
  if (open.status !== "open") return;
  if (debitOf(context, open)) {
    // A person is already paying by debit. If that fails, the schedule goes on.
    const at = context.now() + daySeconds;
    context.store.plan(open.id, "retry_payment", at);
    saveChange(context, "invoice", "invoice.updated", { ...open, next_payment_attempt: at });
    return;
  }
  if (open.collection_method === "send_invoice") {
    emit(context, "invoice.sent", open);
    return;
  }
  const subscription = subscriptionOf(context, open);
  const own = typeof subscription?.default_payment_method === "string" ? subscription.default_payment_method : null;
  collectInvoice(context, open, defaultCard(context, String(open.customer), own), "automatic");
}

/** An invoice that was sent is not paid by its due date. Stripe goes on waiting for it, and the subscription says so. */
export function passDueDate(context: Context, invoiceId: string): void {
  const invoice = context.store.find("invoice", invoiceId);
  const subscription = invoice?.status === "open" ? subscriptionOf(context, invoice) : undefined;
  if (invoice?.status === "open") setDelinquent(context, invoice, true);
  if (subscription?.latest_invoice === invoiceId) setSubscriptionStatus(context, subscription.id, "past_due");
}
