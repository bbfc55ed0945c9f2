/**
 * The debit of a US bank account (ACH Direct Debit): the bank tells Stripe days later whether it pays. charging.ts submits the debit; this
 * file handles the bank's answer.
 *
 * Documented: the intent is `processing` for up to four business days and then `succeeded` or `requires_payment_method`
 * (docs.stripe.com/payments/ach-direct-debit); a subscription is `active` meanwhile, and the invoice of a single payment comes with the money.
 *
 * Stripe's pages say two things about a failed first payment. We play both. "The status changes to the Subscription status configured in
 * your automatic collection settings" (docs.stripe.com/billing/subscriptions/ach-debit): `bank_debit_fails`, whose invoice stays open and is
 * tried again as a card's. "Stripe voids the invoice but the subscription remains `active`" (docs.stripe.com/billing/subscriptions/overview):
 * `bank_debit_voids`.
 *
 * Assumed: four days even if the bank is faster, the order of the events, that a debit that fails is tried again by the schedule of cards, and
 * what can't be done while one is on its way (invoice-acts.ts, payment-intents.ts, refunds.ts).
 */
import { endDebit } from "./charging.ts";
import { invoiceOrder } from "./checkout-complete.ts";
import type { Context } from "./context.ts";
import { emit } from "./events.ts";
import { voidInvoice } from "./invoice-acts.ts";
import { endAttempt } from "./invoice-collect.ts";
import type { Charge, CheckoutSession, Invoice, PaymentIntent } from "./wire.ts";

/** The invoice that the intent is to pay. A single payment's is made only once it has succeeded. */
function invoiceOf(context: Context, intent: PaymentIntent): Invoice | undefined {
  const [payment] = context.store.where("invoice_payment", [{ path: "payment.payment_intent", operator: "=", value: intent.id }]);
  return payment && context.store.find("invoice", String(payment.invoice));
}

/** Whether the debit's failure takes back the invoice of a first payment, instead of leaving it to be tried again. */
function takesBack(context: Context, charge: Charge, invoice: Invoice): boolean {
  const { card } = context.store.hidden("payment_method", String(charge.payment_method));
  return card === "bank_debit_voids" && charge.status === "failed" && invoice.billing_reason === "subscription_create";
}

function endInvoice(context: Context, invoice: Invoice, charge: Charge): void {
  if (!takesBack(context, charge, invoice)) {
    endAttempt(context, invoice, charge);
    return;
  }
  emit(context, "invoice.payment_failed", invoice);
  voidInvoice(context, invoice);
}

/** The invoice of the session's single payment, which has succeeded; null if it has none, or its customer is gone. */
function billOrder(context: Context, session: CheckoutSession, intent: PaymentIntent): Invoice | null {
  const customer = typeof session.customer === "string" ? context.store.find("customer", session.customer) : undefined;
  if (!customer) return null;
  const discounts = context.store.where("discount", [{ path: "checkout_session", operator: "=", value: session.id }]);
  return invoiceOrder(context, session, customer, discounts, intent);
}

function endSession(context: Context, session: CheckoutSession, intent: PaymentIntent): void {
  if (intent.status !== "succeeded") {
    emit(context, "checkout.session.async_payment_failed", session);
    return;
  }
  const invoice = session.mode === "payment" ? (billOrder(context, session, intent)?.id ?? null) : session.invoice;
  const paid = context.store.save("checkout.session", { ...session, invoice, payment_status: "paid" });
  emit(context, "checkout.session.async_payment_succeeded", paid);
}

/** The bank has answered. */
export function settleDebit(context: Context, chargeId: string): void {
  const { charge, intent } = endDebit(context, context.store.get("charge", chargeId));
  const invoice = invoiceOf(context, intent);
  if (invoice) endInvoice(context, invoice, charge);
  const { session } = context.store.hidden("charge", chargeId);
  if (session !== null) endSession(context, context.store.get("checkout.session", session), intent);
}
