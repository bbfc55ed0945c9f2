/**
 * Enterprise plans that are paid by bank transfer (decision 56). They begin with an order (transfer-offers.ts). Stripe sends an invoice for each period.
 * A team member records that the money has arrived, and a job marks the invoice as paid outside Stripe. From then on it is an invoice like any
 * other.
 */
import { DomainError } from "#domain/errors.ts";
import { currency, planList } from "#domain/plans.ts";
import type { AwaitedTransfer, ReceivedTransfer, ReversedTransfer } from "../../contract/billing/transfers.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { idOf, orMissing, orUnavailable } from "../../providers/stripe.ts";
import { enqueue } from "../../queue/outbox.ts";
import { clawBack } from "../credits/service.ts";
import { recordFinding } from "../findings/service.ts";
import type { Clerk } from "../team/service.ts";
import { creditTransfer } from "./credit-notes.ts";
import { endAtStripe, payByTransfer } from "./end-at-stripe.ts";
import { cancelScheduledGrants, cancelUnposted } from "./grant-invoice.ts";
import { selectInvoice } from "./invoice-queries.ts";
import { mirrorInvoice } from "./mirror-invoice.ts";
import * as queries from "./queries.ts";
import { syncSubscription } from "./sync-subscription.ts";
import * as transfers from "./transfer-queries.ts";
import { closeReturn } from "./transfer-returns.ts";

const refused = (message: string) => new DomainError("conflict", message);

const recordedForOther = () => new DomainError("idempotency_conflict", "A transfer with this reference was recorded for something else");

/** Reads the invoice again, since it may have been voided or paid a moment ago and no event has said so yet. Returns whether its plan has ended. */
async function readEnd(deps: Pick<Deps, "db" | "clock" | "payments" | "log">, invoiceId: string): Promise<boolean> {
  const subscription = (await mirrorInvoice(deps, invoiceId))?.invoice.parent?.subscription_details?.subscription;
  const id = idOf(subscription);
  return id !== undefined && (await orMissing(deps.payments.subscriptions.retrieve(id)))?.status === "canceled";
}

async function record(trx: Trx, clerk: Clerk, received: ReceivedTransfer, hasEnded: boolean, now: Date): Promise<void> {
  const { reference, invoiceId, amountCents, reason, agreedElsewhere } = received;
  await queries.lockSubject(trx, `transfer:${invoiceId}`);
  const known = await transfers.selectTransfer(trx, reference);
  const invoice = await selectInvoice(trx, invoiceId);
  if (!invoice?.due_at || !invoice.stripe_subscription_id)
    throw new DomainError("not_found", "There is no such invoice to be paid by transfer");
  if (known) {
    if (known.invoice_id === invoiceId && known.amount_cents === amountCents && known.currency === received.currency) return;
    throw recordedForOther();
  }
  if (invoice.status !== "open")
    throw refused(`The invoice is ${invoice.status} by now, so it needs no transfer: transfer the money back, or offer the plan again`);
  if (hasEnded) throw refused("The plan has ended, so its invoice needs no transfer: transfer the money back, or offer the plan again");
  if (await transfers.selectTransferOf(trx, invoiceId)) throw refused("A transfer was recorded for this invoice already");
  const { stripe_subscription_id: subscriptionId } = invoice;
  const isAgreedOn = agreedElsewhere !== undefined || (await transfers.isOrderedOrPaidBefore(trx, subscriptionId));
  if (!isAgreedOn) throw refused("The person has not ordered this plan on our page. Say in `agreedElsewhere` how it was agreed on");
  if (received.currency !== currency || amountCents !== invoice.unpaid_cents)
    throw refused(`The invoice is about ${invoice.unpaid_cents} cents of ${currency}`);
  const row = {
    reference,
    billing_account_id: invoice.billing_account_id,
    invoice_id: invoiceId,
    amount_cents: amountCents,
    currency,
    reason,
    agreed_elsewhere: agreedElsewhere ?? null,
  };
  const inserted = { ...row, stripe_subscription_id: subscriptionId, recorded_at: now };
  // At the same moment it was recorded for another invoice.
  if (!(await transfers.insertTransfer(trx, inserted))) throw recordedForOther();
  await enqueue(trx, "settle-transfer", { reference });
  const subject = await transfers.selectLongestMember(trx, invoice.billing_account_id);
  const details = { amountCents, ...(agreedElsewhere === undefined ? {} : { agreedElsewhere: true as const }) };
  await recordAct(trx, { actor: clerk.userId, subject, action: "transfer.received", network: clerk.network, details, reason });
}

/**
 * Records that the money for an invoice has arrived; the job does the rest. The same again changes nothing. Throws `not_found`,
 * `idempotency_conflict`, `conflict` if it is not what the invoice asks for, and `payment_provider_unavailable`.
 */
export async function receiveTransfer(
  deps: Pick<Deps, "db" | "clock" | "payments" | "log">,
  clerk: Clerk,
  received: ReceivedTransfer,
): Promise<void> {
  const hasEnded = await orUnavailable(deps.log, () => readEnd(deps, received.invoiceId));
  await inTransaction(deps.db, (trx) => record(trx, clerk, received, hasEnded, deps.clock.now()));
}

const awaitedAtMost = 20;

/** The person's invoices that a transfer of theirs can be recorded for. */
export async function listAwaited(executor: Executor, userId: string): Promise<AwaitedTransfer[]> {
  const rows = await transfers.selectAwaited(executor, userId, awaitedAtMost);
  return rows.map((row) => ({
    invoiceId: row.id,
    number: row.number,
    amountCents: row.unpaid_cents,
    dueAt: row.due_at.toISOString(),
    plan: planList.find(({ key }) => key === row.plan_key)?.key ?? null,
    interval: row.billing_interval,
    isAgreedOn: row.is_agreed_on,
  }));
}

/** Takes the invoice's credits, whenever they were posted, and those of the months to come. */
async function takeCredits(trx: Trx, { invoice_id: invoiceId, stripe_subscription_id: subscriptionId }: transfers.TransferRow, now: Date) {
  for (const { id, credits } of await transfers.selectGrantsOf(trx, invoiceId))
    await clawBack(trx, { grantId: id, inAll: credits, reason: "transfer_reversed", key: `clawback:transfer:${id}` }, now);
  await cancelUnposted(trx, invoiceId, now);
  await cancelScheduledGrants(trx, subscriptionId, now, now);
}

async function reverse(trx: Trx, clerk: Clerk, { reference, reason }: ReversedTransfer, now: Date): Promise<string> {
  const found = await transfers.selectTransfer(trx, reference);
  if (!found) throw new DomainError("not_found", "There is no such transfer");
  const { billing_account_id: payerId, amount_cents: amountCents } = found;
  await queries.lockSubject(trx, `billing:${payerId}`);
  if (!(await transfers.markReversed(trx, reference, reason, now))) return payerId;
  if (!(await transfers.isSurplus(trx, reference))) await takeCredits(trx, found, now);
  await closeReturn(trx, reference, now);
  await enqueue(trx, "settle-transfer", { reference });
  const subject = await transfers.selectLongestMember(trx, payerId);
  const act = { actor: clerk.userId, subject, network: clerk.network, reason };
  await recordAct(trx, { ...act, action: "transfer.reversed", details: { amountCents } });
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

/** Writes that all of a transfer is to go back, because its invoice was void or paid by card, and tells the team. */
async function oweBack({ db, clock }: Pick<Deps, "db" | "clock">, transfer: transfers.TransferRow): Promise<void> {
  const { reference, billing_account_id: payerId, amount_cents: amountCents, invoice_id: invoice } = transfer;
  await inTransaction(db, async (trx) => {
    await queries.lockSubject(trx, `billing:${payerId}`);
    const current = await transfers.selectTransfer(trx, reference);
    const now = clock.now();
    const id = current?.reversed_at === null ? await transfers.insertSurplus(trx, transfer, now) : undefined;
    if (id === undefined) return;
    await recordFinding(trx, { kind: "surplus_transfer", subject: id, payerId, details: { amountCents, reference, invoice } }, null, now);
  });
}

/**
 * Brings Stripe and then our books in line with the record: the invoice is paid, the plan has ended, or all of the money is to go back because the
 * invoice does not need it. May run any number of times.
 */
export async function settleTransfer(deps: Pick<Deps, "db" | "payments" | "clock" | "live" | "log">, reference: string): Promise<void> {
  const transfer = await transfers.selectTransfer(deps.db, reference);
  if (!transfer) return;
  const { invoice_id: invoiceId, stripe_subscription_id: subscriptionId, billing_account_id: payerId } = transfer;
  if (transfer.reversed_at === null) {
    if ((await payByTransfer(deps, transfer)) === "surplus") await oweBack(deps, transfer);
  } else if (!(await transfers.isSurplus(deps.db, reference))) await endAtStripe(deps, subscriptionId, "transfer-reversed");
  await syncSubscription(deps, subscriptionId);
  // The credits may have been posted after it was taken back.
  await inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `billing:${payerId}`);
    const current = await transfers.selectTransfer(trx, reference);
    if (current?.reversed_at && !(await transfers.isSurplus(trx, reference))) await takeCredits(trx, current, deps.clock.now());
  });
  const returned = await transfers.selectReturnOf(deps.db, invoiceId);
  if (returned?.returned_reference && returned.kind !== "surplus") await creditTransfer(deps, invoiceId, returned);
  await mirrorInvoice(deps, invoiceId);
  await announceToMembers(deps, payerId, "user_subscriptions", "wallets");
}
