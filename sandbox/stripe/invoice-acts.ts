/** What a call does to an open invoice: it pays it, or takes it back. */
import { cancelIntent, declinedError } from "./charging.ts";
import type { Context } from "./context.ts";
import { invalidRequest } from "./errors.ts";
import { saveChange } from "./events.ts";
import { collectInvoice, debitOf, finalizeInvoice, markPaid, paymentsOf, subscriptionOf } from "./invoice-collect.ts";
import { setSubscriptionStatus } from "./subscription-status.ts";
import type { Invoice, PaymentMethod } from "./wire.ts";

/** Assumed, since Stripe's pages do not say: while a debit is on its way, its invoice can't be paid again or taken back. */
export function refuseWhileDebited(context: Context, invoice: Invoice): void {
  if (!debitOf(context, invoice)) return;
  const message = "This invoice has a payment that is processing. Wait until it has succeeded or failed.";
  throw invalidRequest(message, undefined, "payment_intent_unexpected_state");
}

/** `POST /v1/invoices/:id/pay`. Throws 402 if the card is declined; the failed attempt is stored. */
export function payNow(context: Context, invoice: Invoice, method: PaymentMethod | undefined, outOfBand: boolean): Invoice {
  if (invoice.status === "paid") throw invalidRequest("Invoice is already paid", undefined, "invoice_already_paid");
  if (invoice.status === "void") throw invalidRequest("This invoice can no longer be paid: it is void.", undefined, "invoice_not_payable");
  const open = invoice.status === "draft" ? finalizeInvoice(context, invoice) : invoice;
  if (open.status === "paid") return open;
  refuseWhileDebited(context, open);
  if (outOfBand) return markPaid(context, open, null, true);
  if (!method)
    throw invalidRequest(
      "There is no `default_payment_method` set on this Customer or Invoice. Please set a default payment method.",
      undefined,
      "invoice_payment_intent_requires_action",
    );
  const result = collectInvoice(context, open, method, "manual");
  if (result.status === "paid" || debitOf(context, result)) return result;
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
  refuseWhileDebited(context, invoice);
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
