/**
 * Says for each type of Stripe event which object we read again from Stripe and what we write from it. We never use the event's payload.
 * Events without a handler are set aside. To act on another type, add its handler here and replay the events that were set aside.
 */
import type Stripe from "stripe";
import type { Deps } from "../../deps.ts";
import { idOf, orMissing } from "../../providers/stripe.ts";
import { findPayerOfCustomer } from "./customers.ts";
import { retireDeleted } from "./former-customers.ts";
import { mirrorInvoice, mirrorInvoiceOfPayment } from "./mirror-invoice.ts";
import { selectPayerOfCustomer } from "./queries.ts";
import { resumeTax } from "./resume-tax.ts";
import { settleCheckout } from "./settle-checkout.ts";
import { syncCharge } from "./sync-charge.ts";
import { syncSubscription } from "./sync-subscription.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log">;

/**
 * `ignored`: nothing was written, because the event is not about an object of ours or because another job has just written it. `set_aside`:
 * no code acts on this type yet; queue/replay.ts can replay it.
 */
export type EventOutcome = "processed" | "ignored" | "set_aside";

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

/** An invoice whose card is charged gets more events in a moment. One that is sent gets none until it is paid, so it is written now. */
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

interface TypeRule {
  /** Absent: no code acts on this type. It is here because of its payload. */
  handle?: Handler;
  /**
   * False: the event's object names no customer, or only a deleted one, and can have personal data, as the evidence in a dispute. Its
   * payload is not stored, because nothing would lead to it when the person's data is erased.
   */
  isStored?: false;
}

const typeRules: Partial<Record<Stripe.Event["type"], TypeRule>> = {
  "charge.dispute.closed": { handle: onDispute, isStored: false },
  "charge.dispute.created": { handle: onDispute, isStored: false },
  "charge.dispute.funds_reinstated": { handle: onDispute, isStored: false },
  "charge.dispute.funds_withdrawn": { handle: onDispute, isStored: false },
  "charge.dispute.updated": { handle: onDispute, isStored: false },
  "charge.pending": { handle: onDebit },
  "charge.refund.updated": { handle: onRefund, isStored: false },
  "charge.refunded": { handle: onCharge },
  "checkout.session.async_payment_failed": { handle: onCheckout },
  "checkout.session.async_payment_succeeded": { handle: onCheckout },
  "checkout.session.completed": { handle: onCheckout },
  "checkout.session.expired": { handle: onCheckout },
  "credit_note.created": { handle: onCreditNote },
  "credit_note.voided": { handle: onCreditNote },
  "customer.deleted": { handle: onCustomerDeleted, isStored: false },
  "customer.subscription.created": { handle: onSubscription },
  "customer.subscription.deleted": { handle: onSubscription },
  "customer.subscription.paused": { handle: onSubscription },
  "customer.subscription.pending_update_applied": { handle: onSubscription },
  "customer.subscription.pending_update_expired": { handle: onSubscription },
  "customer.subscription.resumed": { handle: onSubscription },
  "customer.subscription.trial_will_end": { handle: onSubscription },
  "customer.subscription.updated": { handle: onSubscription },
  "customer.updated": { handle: onCustomer },
  // Only events that change money or access. Drafts and notices don't change our tables.
  "invoice.finalized": { handle: onFinalized },
  "invoice.marked_uncollectible": { handle: onInvoice },
  "invoice.paid": { handle: onInvoice },
  "invoice.payment_action_required": { handle: onInvoice },
  "invoice.payment_failed": { handle: onInvoice },
  "invoice.payment_succeeded": { handle: onInvoice },
  "invoice.voided": { handle: onInvoice },
  "payment_method.detached": { isStored: false },
  "refund.created": { handle: onRefund, isStored: false },
  "refund.failed": { handle: onRefund, isStored: false },
  "refund.updated": { handle: onRefund, isStored: false },
  "subscription_schedule.aborted": { handle: onSchedule },
  "subscription_schedule.canceled": { handle: onSchedule },
  "subscription_schedule.completed": { handle: onSchedule },
  "subscription_schedule.created": { handle: onSchedule },
  "subscription_schedule.released": { handle: onSchedule },
  "subscription_schedule.updated": { handle: onSchedule },
};

const rules = Object.entries(typeRules);
const handlerOf = new Map(rules.flatMap(([type, { handle }]) => (handle ? [[type, handle] as const] : [])));
/** The types that a webhook endpoint has to send. */
export const handledTypes: readonly string[] = [...handlerOf.keys()];
/** The types whose payload is not stored. */
export const unstoredTypes: readonly string[] = rules.flatMap(([type, { isStored = true }]) => (isStored ? [] : [type]));

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
