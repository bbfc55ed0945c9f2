/**
 * Says for each type of Stripe event which object we read again from Stripe and what we write from it. We never use the event's payload.
 * Events without a handler are set aside. To act on another type, add its handler here and replay the events that were set aside.
 */
import type Stripe from "stripe";
import type { Deps } from "../../deps.ts";
import { idOf, orMissing } from "../../providers/stripe.ts";
import { findPayerOfCustomer } from "./customers.ts";
import { retireDeleted } from "./former-customers.ts";
import type { EventOutcome } from "./inbox.ts";
import { mirrorInvoice, mirrorInvoiceOfPayment } from "./mirror-invoice.ts";
import { selectPayerOfCustomer } from "./queries.ts";
import { resumeTax } from "./resume-tax.ts";
import { settleCheckout } from "./settle-checkout.ts";
import { syncCharge } from "./sync-charge.ts";
import { syncSubscription } from "./sync-subscription.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log">;

export interface Handled {
  outcome: EventOutcome;
  /** The account whose people's open pages are notified. */
  payerId?: string;
}

/** Reads the object with this id and writes what follows from it. May run any number of times and in any order, with the same result. */
type Handler = (deps: BillingDeps, objectId: string) => Promise<Handled>;

async function onSubscription(deps: BillingDeps, subscriptionId: string): Promise<Handled> {
  const result = await syncSubscription(deps, subscriptionId);
  return result ? { outcome: "processed", payerId: result.payerId } : { outcome: "ignored" };
}

async function onInvoice(deps: BillingDeps, invoiceId: string): Promise<Handled> {
  const mirrored = await mirrorInvoice(deps, invoiceId);
  const subscriptionId = idOf(mirrored?.invoice.parent?.subscription_details?.subscription);
  const payerId = mirrored?.payerId;
  const synced = subscriptionId === undefined ? undefined : await onSubscription(deps, subscriptionId);
  return payerId === undefined ? (synced ?? { outcome: "ignored" }) : { outcome: "processed", payerId };
}

/** An invoice that is charged says more in a moment; one that is sent is all that there will be until it is paid. */
async function onFinalized(deps: BillingDeps, invoiceId: string): Promise<Handled> {
  const invoice = await orMissing(deps.payments.invoices.retrieve(invoiceId));
  return invoice?.collection_method === "send_invoice" ? onInvoice(deps, invoiceId) : { outcome: "ignored" };
}

export async function onCheckout(deps: BillingDeps, sessionId: string): Promise<Handled> {
  const settled = await settleCheckout(deps, sessionId);
  if (settled?.payerId === null) return { outcome: "set_aside" };
  if (settled?.subscriptionId !== undefined) return { ...(await onSubscription(deps, settled.subscriptionId)), outcome: "processed" };
  return settled?.payerId === undefined ? { outcome: "processed" } : { outcome: "processed", payerId: settled.payerId };
}

async function onSchedule(deps: BillingDeps, scheduleId: string): Promise<Handled> {
  const schedule = await orMissing(deps.payments.subscriptionSchedules.retrieve(scheduleId));
  const subscriptionId = idOf(schedule?.subscription) ?? schedule?.released_subscription;
  return subscriptionId ? onSubscription(deps, subscriptionId) : { outcome: "ignored" };
}

/** Somebody may have issued it by hand. */
async function onCreditNote(deps: BillingDeps, noteId: string): Promise<Handled> {
  const invoiceId = idOf((await orMissing(deps.payments.creditNotes.retrieve(noteId)))?.invoice);
  const mirrored = invoiceId === undefined ? undefined : await mirrorInvoice(deps, invoiceId);
  return mirrored?.payerId === undefined ? { outcome: "ignored" } : { outcome: "processed", payerId: mirrored.payerId };
}

async function onCharge(deps: BillingDeps, chargeId: string | undefined): Promise<Handled> {
  const payerId = chargeId === undefined ? undefined : await syncCharge(deps, chargeId);
  return payerId === undefined ? { outcome: "ignored" } : { outcome: "processed", payerId };
}

/** A bank was told to debit: the invoice for it is neither paid nor failed until the bank has answered. */
async function onDebit(deps: BillingDeps, chargeId: string): Promise<Handled> {
  const charge = await orMissing(deps.payments.charges.retrieve(chargeId));
  const [intentId, customerId] = [idOf(charge?.payment_intent), idOf(charge?.customer)];
  const payerId = customerId === undefined ? undefined : await findPayerOfCustomer(deps, customerId);
  if (intentId === undefined || payerId === undefined) return { outcome: "ignored" };
  await mirrorInvoiceOfPayment(deps, intentId, []);
  return { outcome: "processed", payerId };
}

async function onRefund(deps: BillingDeps, refundId: string): Promise<Handled> {
  return onCharge(deps, idOf((await orMissing(deps.payments.refunds.retrieve(refundId)))?.charge));
}

async function onDispute(deps: BillingDeps, disputeId: string): Promise<Handled> {
  return onCharge(deps, idOf((await orMissing(deps.payments.disputes.retrieve(disputeId)))?.charge));
}

/** Somebody may have corrected the address that their tax depends on. */
async function onCustomer(deps: BillingDeps, customerId: string): Promise<Handled> {
  return { outcome: (await resumeTax(deps, customerId)) ? "processed" : "ignored" };
}

/** Its subscriptions have events of their own. */
async function onCustomerDeleted(deps: BillingDeps, customerId: string): Promise<Handled> {
  const payerId = await selectPayerOfCustomer(deps.db, customerId);
  const isRetired = payerId !== undefined && (await retireDeleted(deps, payerId, customerId));
  return isRetired ? { outcome: "processed", payerId } : { outcome: "ignored" };
}

const handlers: Partial<Record<Stripe.Event["type"], Handler>> = {
  "charge.dispute.closed": onDispute,
  "charge.dispute.created": onDispute,
  "charge.dispute.funds_reinstated": onDispute,
  "charge.dispute.funds_withdrawn": onDispute,
  "charge.dispute.updated": onDispute,
  "charge.pending": onDebit,
  "charge.refund.updated": onRefund,
  "charge.refunded": onCharge,
  "checkout.session.async_payment_failed": onCheckout,
  "checkout.session.async_payment_succeeded": onCheckout,
  "checkout.session.completed": onCheckout,
  "checkout.session.expired": onCheckout,
  "credit_note.created": onCreditNote,
  "credit_note.voided": onCreditNote,
  "customer.deleted": onCustomerDeleted,
  "customer.subscription.created": onSubscription,
  "customer.subscription.deleted": onSubscription,
  "customer.subscription.paused": onSubscription,
  "customer.subscription.pending_update_applied": onSubscription,
  "customer.subscription.pending_update_expired": onSubscription,
  "customer.subscription.resumed": onSubscription,
  "customer.subscription.trial_will_end": onSubscription,
  "customer.subscription.updated": onSubscription,
  "customer.updated": onCustomer,
  // Only events that change money or access. Drafts and notices don't change our tables.
  "invoice.finalized": onFinalized,
  "invoice.marked_uncollectible": onInvoice,
  "invoice.paid": onInvoice,
  "invoice.payment_action_required": onInvoice,
  "invoice.payment_failed": onInvoice,
  "invoice.payment_succeeded": onInvoice,
  "invoice.voided": onInvoice,
  "refund.created": onRefund,
  "refund.failed": onRefund,
  "refund.updated": onRefund,
  "subscription_schedule.aborted": onSchedule,
  "subscription_schedule.canceled": onSchedule,
  "subscription_schedule.completed": onSchedule,
  "subscription_schedule.created": onSchedule,
  "subscription_schedule.released": onSchedule,
  "subscription_schedule.updated": onSchedule,
};
/** The types that a webhook endpoint has to send. */
export const handledTypes: readonly string[] = Object.keys(handlers);
const handlerOf = new Map<string, Handler>(Object.entries(handlers));

export interface EventRule {
  handle: Handler;
  /** All types with this handler. One reading of an object settles all waiting events of these types about it. */
  types: readonly string[];
}

/** Returns undefined if no code acts on this type yet. */
export function ruleOf(type: string): EventRule | undefined {
  const handle = handlerOf.get(type);
  if (!handle) return undefined;
  return { handle, types: [...handlerOf].flatMap(([one, other]) => (other === handle ? [one] : [])) };
}
