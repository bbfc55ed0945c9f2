/** What a person does on the page at an invoice's `hosted_invoice_url`, and on the bank's page for an intent that the API made. */
import { chargeIntent, refuseAuthentication, requireAuthentication } from "./charging.ts";
import type { Context } from "./context.ts";
import { invalidRequest } from "./errors.ts";
import { refuseWhileDebited } from "./invoice-acts.ts";
import { debitOf, openIntentOf, payAsCardholder, subscriptionOf } from "./invoice-collect.ts";
import type { CardBehaviour } from "./kinds.ts";
import { asksHolder, attach, createCard, defaultCard, refuseOtherCurrency } from "./payment-methods.ts";
import type { Invoice, PaymentIntent, PaymentMethod } from "./wire.ts";

/** `paid` also means: by a debit that the bank has not answered yet. */
export type InvoicePayment = "paid" | "declined" | "authentication";

/** The intent of an invoice that waits for its cardholder; undefined if it does not. */
export function waitingIntentOf(context: Context, invoice: Invoice): PaymentIntent | undefined {
  const id = openIntentOf(context, invoice);
  const intent = id === undefined ? undefined : context.store.find("payment_intent", id);
  return intent?.status === "requires_action" ? intent : undefined;
}

/** The card that Stripe charges by itself for this invoice. */
export function savedCardOf(context: Context, invoice: Invoice): PaymentMethod | undefined {
  const own = subscriptionOf(context, invoice)?.default_payment_method;
  return defaultCard(context, String(invoice.customer), typeof own === "string" ? own : null);
}

function settle(context: Context, open: Invoice, intent: string, method: PaymentMethod): InvoicePayment {
  const invoice = payAsCardholder(context, open, intent, method);
  if (invoice.status !== "paid" && !debitOf(context, invoice)) return "declined";
  // A card that paid once can pay again, but the subscription keeps the card that it has.
  if (method.customer === null && typeof invoice.customer === "string" && context.store.find("customer", invoice.customer))
    attach(context, method, invoice.customer);
  return "paid";
}

/** Pays with the saved card or another test card. Paying a paid invoice again has no effect. Throws 400 if it can't be paid any more. */
export function payHostedInvoice(context: Context, invoiceId: string, card: CardBehaviour | "saved"): InvoicePayment {
  const invoice = context.store.get("invoice", invoiceId, "invoice");
  if (invoice.status === "paid") return "paid";
  const intent = openIntentOf(context, invoice);
  if ((invoice.status !== "open" && invoice.status !== "uncollectible") || intent === undefined)
    throw invalidRequest("This invoice can no longer be paid.", "invoice", "invoice_not_payable");
  refuseWhileDebited(context, invoice);
  if (card !== "saved") refuseOtherCurrency(card, invoice.currency);
  const method = card === "saved" ? savedCardOf(context, invoice) : createCard(context, card, null, invoice.customer_email);
  if (!method) throw invalidRequest("There is no saved card.", "card");
  if (!asksHolder(context.store.hidden("payment_method", method.id).card)) return settle(context, invoice, intent, method);
  requireAuthentication(context, intent, method, `${context.origin}/i/${invoice.id}`);
  return "authentication";
}

/** The cardholder has answered the bank for an invoice. */
export function answerForInvoice(context: Context, invoiceId: string, approved: boolean): InvoicePayment {
  const invoice = context.store.get("invoice", invoiceId, "invoice");
  if (invoice.status === "paid") return "paid";
  const intent = waitingIntentOf(context, invoice);
  if (!intent) throw invalidRequest("This invoice is not waiting for authentication.", "invoice");
  if (approved) return settle(context, invoice, intent.id, context.store.get("payment_method", String(intent.payment_method)));
  refuseAuthentication(context, intent.id);
  return "declined";
}

/** An intent that the API confirmed and that waits for its cardholder. */
export function waitingIntent(context: Context, intentId: string): PaymentIntent {
  const intent = context.store.get("payment_intent", intentId, "intent");
  if (intent.status !== "requires_action") throw invalidRequest("This payment is not waiting for authentication.", "intent");
  return intent;
}

/** Returns where the cardholder goes next; null if the API named no address. */
export function answerForIntent(context: Context, intentId: string, approved: boolean): string | null {
  const intent = waitingIntent(context, intentId);
  const returnUrl = intent.next_action?.redirect_to_url?.return_url ?? null;
  if (approved) chargeIntent(context, intentId, context.store.get("payment_method", String(intent.payment_method)), "authenticated");
  else refuseAuthentication(context, intentId);
  if (returnUrl === null) return null;
  const back = new URL(returnUrl);
  back.searchParams.set("payment_intent", intentId);
  back.searchParams.set("payment_intent_client_secret", intent.client_secret ?? "");
  back.searchParams.set("redirect_status", approved ? "succeeded" : "failed");
  return back.href;
}
