/**
 * Enterprise plans that are paid by bank transfer (decision 56). Stripe sends an invoice for each period. Somebody of the team records that
 * the money has arrived, and a job marks the invoice as paid outside Stripe: from there on it is an invoice like any other.
 */
import type Stripe from "stripe";
import { DomainError } from "#domain/errors.ts";
import { currency, plans, priceIdOf } from "#domain/plans.ts";
import type { BillTo, InvoiceTransfer, ReceivedTransfer, ReversedTransfer, TransferInvoice } from "../../contract/transfers.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { SubscriptionRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { fromUnix, idOf, isPaidAlready, orMissing, orUnavailable } from "../../providers/stripe.ts";
import { enqueue } from "../../queue/outbox.ts";
import { clawBack } from "../credits/service.ts";
import { refuseSubscribed } from "./checkout.ts";
import { ensureCustomer } from "./customers.ts";
import { endAtStripe } from "./end-at-stripe.ts";
import { cancelScheduledGrants } from "./grant-invoice.ts";
import { selectInvoice } from "./invoice-queries.ts";
import { mirrorInvoice } from "./mirror-invoice.ts";
import * as queries from "./queries.ts";
import { stripePriceOf } from "./stripe-catalogue.ts";
import { isTaxed, subscriptionTax } from "./stripe-tax.ts";
import { syncSubscription } from "./sync-subscription.ts";
import * as transfers from "./transfer-queries.ts";
import { alreadySubscribed, hasRunningPlan } from "./trials.ts";

/** Somebody of the team. */
export interface Clerk {
  userId: string;
  network: string;
}

const refused = (message: string) => new DomainError("conflict", message);

type Terms = Pick<InvoiceTransfer, "daysUntilDue"> & { price: string };

/** Throws `conflict` if tax is to be reckoned and Stripe doesn't know where the customer is. */
async function requireLocation(deps: Deps, customer: string): Promise<void> {
  if (!isTaxed(deps.config.stripe)) return;
  const read = await deps.payments.customers.retrieve(customer, { expand: ["tax"] });
  const known = read.deleted ? undefined : read.tax?.automatic_tax;
  if (known !== "supported" && known !== "not_collecting")
    throw refused("The tax depends on where the customer is. Give `billTo` with the address of the invoice");
}

/** A subscription that waits for its first transfer is not begun again: on the same terms it is the one that was asked for. */
async function openSubscription(deps: Deps, customer: string, known: SubscriptionRow | undefined, { price, daysUntilDue }: Terms) {
  const waiting =
    known?.status === "incomplete" ? await orMissing(deps.payments.subscriptions.retrieve(known.stripe_subscription_id)) : undefined;
  if (waiting?.collection_method === "send_invoice" && waiting.status !== "canceled") {
    if (waiting.days_until_due !== daysUntilDue || waiting.items.data[0]?.price.id !== price) throw alreadySubscribed();
    return waiting;
  }
  await refuseSubscribed(deps, customer);
  await requireLocation(deps, customer);
  // One for each plan that this person had: of two clicks at once the second finds the first one's.
  const tax = subscriptionTax(deps.config.stripe);
  const before = known?.stripe_subscription_id ?? "none";
  return deps.payments.subscriptions.create(
    { customer, items: [{ price, quantity: 1 }], collection_method: "send_invoice", days_until_due: daysUntilDue, ...tax },
    { idempotencyKey: `transfer:${customer}:${before}:${price}:${daysUntilDue}${isTaxed(deps.config.stripe) ? ":taxed" : ""}` },
  );
}

/** Whom the invoices are made out to. Stripe keeps it; we don't. */
async function nameCustomer(
  { payments }: Pick<Deps, "payments">,
  customer: string,
  { name, line1, line2, postalCode, city, state, country }: BillTo,
) {
  const address = { line1, line2: line2 ?? "", postal_code: postalCode, city, state: state ?? "", country };
  await payments.customers.update(customer, { name, address });
}

/** Stripe sends it by itself an hour later. */
async function finalInvoice({ payments }: Pick<Deps, "payments">, id: string): Promise<Stripe.Invoice> {
  const invoice = await payments.invoices.retrieve(id);
  return invoice.status === "draft" ? payments.invoices.finalizeInvoice(id, {}, { idempotencyKey: `transfer-final:${id}` }) : invoice;
}

/**
 * Begins an Enterprise plan whose invoices are paid by transfer. There are no credits before the first one is paid. Throws `not_found`,
 * `already_subscribed`, `payment_provider_unavailable`.
 */
export async function invoiceTransfer(
  deps: Deps,
  clerk: Clerk,
  { email, interval, daysUntilDue, billTo }: InvoiceTransfer,
): Promise<TransferInvoice> {
  const userId = await transfers.selectConfirmedPerson(deps.db, email);
  if (userId === undefined) throw new DomainError("not_found", "Nobody has this address");
  const known = await queries.selectSubscription(deps.db, userId);
  if (hasRunningPlan(known)) throw alreadySubscribed();
  return orUnavailable(deps.log, async () => {
    const { customerId } = await ensureCustomer(deps, userId);
    if (billTo) await nameCustomer(deps, customerId, billTo);
    const price = await stripePriceOf(deps, priceIdOf(plans.enterprise.key, interval));
    const subscription = await openSubscription(deps, customerId, known, { price, daysUntilDue });
    const invoice = await finalInvoice(deps, idOf(subscription.latest_invoice) ?? "");
    await syncSubscription(deps, subscription.id);
    const payerId = (await mirrorInvoice(deps, invoice.id))?.payerId;
    const { number, amount_due: amountCents } = invoice;
    const act = { actor: clerk.userId, subject: userId, network: clerk.network, details: { amountCents } };
    await recordAct(deps.db, { ...act, action: "transfer.invoiced" });
    if (payerId !== undefined) await announceToMembers(deps, payerId, "user_subscriptions");
    return { invoiceId: invoice.id, number, amountCents, dueAt: fromUnix(invoice.due_date ?? invoice.created).toISOString() };
  });
}

const recordedForOther = () => new DomainError("idempotency_conflict", "A transfer with this reference was recorded for something else");

async function record(trx: Trx, clerk: Clerk, received: ReceivedTransfer, now: Date): Promise<void> {
  const { reference, invoiceId, amountCents, reason } = received;
  await queries.lockSubject(trx, `transfer:${invoiceId}`);
  const known = await transfers.selectTransfer(trx, reference);
  const invoice = await selectInvoice(trx, invoiceId);
  if (!invoice?.due_at || !invoice.stripe_subscription_id)
    throw new DomainError("not_found", "There is no such invoice to be paid by transfer");
  if (known) {
    if (known.invoice_id === invoiceId && known.amount_cents === amountCents && known.currency === received.currency) return;
    throw recordedForOther();
  }
  if (invoice.status !== "open") throw refused("The invoice is not open any more");
  if (received.currency !== currency || amountCents !== invoice.unpaid_cents)
    throw refused(`The invoice is about ${invoice.unpaid_cents} cents of ${currency}`);
  const row = {
    reference,
    billing_account_id: invoice.billing_account_id,
    invoice_id: invoiceId,
    amount_cents: amountCents,
    currency,
    reason,
  };
  const inserted = { ...row, stripe_subscription_id: invoice.stripe_subscription_id, recorded_at: now };
  // At the same moment it was recorded for another invoice.
  if (!(await transfers.insertTransfer(trx, inserted))) throw recordedForOther();
  await enqueue(trx, "settle-transfer", { reference });
  const subject = await transfers.selectLongestMember(trx, invoice.billing_account_id);
  await recordAct(trx, { actor: clerk.userId, subject, action: "transfer.received", network: clerk.network, details: { amountCents } });
}

/**
 * Records that the money for an invoice has arrived; the job does the rest. The same again changes nothing. Throws `not_found`,
 * `idempotency_conflict`, and `conflict` if it is not what the invoice asks for.
 */
export async function receiveTransfer(deps: Pick<Deps, "db" | "clock">, clerk: Clerk, received: ReceivedTransfer): Promise<void> {
  await inTransaction(deps.db, (trx) => record(trx, clerk, received, deps.clock.now()));
}

/** Takes the invoice's credits, whenever they were posted, and those of the months to come. */
async function takeCredits(trx: Trx, { invoice_id: invoiceId, stripe_subscription_id: subscriptionId }: transfers.TransferRow, now: Date) {
  for (const { id, credits } of await transfers.selectGrantsOf(trx, invoiceId))
    await clawBack(trx, { grantId: id, inAll: credits, key: `clawback:transfer:${id}` }, now);
  await cancelScheduledGrants(trx, subscriptionId, now, now);
}

async function reverse(trx: Trx, clerk: Clerk, { reference, reason }: ReversedTransfer, now: Date): Promise<string> {
  const found = await transfers.selectTransfer(trx, reference);
  if (!found) throw new DomainError("not_found", "There is no such transfer");
  const { billing_account_id: payerId, amount_cents: amountCents } = found;
  await queries.lockSubject(trx, `billing:${payerId}`);
  if (!(await transfers.markReversed(trx, reference, reason, now))) return payerId;
  await takeCredits(trx, found, now);
  await enqueue(trx, "settle-transfer", { reference });
  const subject = await transfers.selectLongestMember(trx, payerId);
  await recordAct(trx, { actor: clerk.userId, subject, action: "transfer.reversed", network: clerk.network, details: { amountCents } });
  return payerId;
}

/** Takes a transfer back, with its credits; what was spent of them becomes debt. A second time changes nothing. Throws `not_found`. */
export async function reverseTransfer(
  deps: Pick<Deps, "db" | "clock" | "live" | "log">,
  clerk: Clerk,
  reversed: ReversedTransfer,
): Promise<void> {
  const payerId = await inTransaction(deps.db, (trx) => reverse(trx, clerk, reversed, deps.clock.now()));
  await announceToMembers(deps, payerId, "wallets");
}

/** Brings Stripe and then our books in line with the record: the invoice is paid, or the plan has ended. May run any number of times. */
export async function settleTransfer(deps: Pick<Deps, "db" | "payments" | "clock" | "live" | "log">, reference: string): Promise<void> {
  const transfer = await transfers.selectTransfer(deps.db, reference);
  if (!transfer) return;
  const { invoice_id: invoiceId, stripe_subscription_id: subscriptionId, billing_account_id: payerId } = transfer;
  if (transfer.reversed_at === null) {
    try {
      await deps.payments.invoices.pay(invoiceId, { paid_out_of_band: true }, { idempotencyKey: `transfer-paid:${reference}` });
    } catch (error) {
      if (!isPaidAlready(error)) throw error;
    }
  } else await endAtStripe(deps, subscriptionId, "transfer-reversed");
  await syncSubscription(deps, subscriptionId);
  // The credits may have been posted after it was taken back.
  await inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `billing:${payerId}`);
    const current = await transfers.selectTransfer(trx, reference);
    if (current?.reversed_at) await takeCredits(trx, current, deps.clock.now());
  });
  await mirrorInvoice(deps, invoiceId);
  await announceToMembers(deps, payerId, "user_subscriptions", "wallets");
}
