/**
 * Enterprise plans that are paid by bank transfer (decision 56). They begin with an order (transfer-offers.ts). Stripe sends an invoice for each
 * period. Somebody of the team records that
 * the money has arrived, and a job marks the invoice as paid outside Stripe: from there on it is an invoice like any other.
 */
import { DomainError } from "#domain/errors.ts";
import { currency } from "#domain/plans.ts";
import type { ReceivedTransfer, ReversedTransfer } from "../../contract/transfers.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { enqueue } from "../../queue/outbox.ts";
import { clawBack } from "../credits/service.ts";
import { creditTransfer } from "./credit-notes.ts";
import { endAtStripe, payByTransfer } from "./end-at-stripe.ts";
import { cancelScheduledGrants } from "./grant-invoice.ts";
import { selectInvoice } from "./invoice-queries.ts";
import { mirrorInvoice } from "./mirror-invoice.ts";
import * as queries from "./queries.ts";
import { syncSubscription } from "./sync-subscription.ts";
import * as transfers from "./transfer-queries.ts";

/** Who acts: somebody of the team, or who orders. */
export interface Clerk {
  userId: string;
  network: string;
}

const refused = (message: string) => new DomainError("conflict", message);

const recordedForOther = () => new DomainError("idempotency_conflict", "A transfer with this reference was recorded for something else");

async function record(trx: Trx, clerk: Clerk, received: ReceivedTransfer, now: Date): Promise<void> {
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
  if (invoice.status !== "open") throw refused("The invoice is not open any more");
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
  await recordAct(trx, { actor: clerk.userId, subject, action: "transfer.received", network: clerk.network, details });
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
  await transfers.closeReturn(trx, reference, now);
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
  if (transfer.reversed_at === null) await payByTransfer(deps, transfer);
  else await endAtStripe(deps, subscriptionId, "transfer-reversed");
  await syncSubscription(deps, subscriptionId);
  // The credits may have been posted after it was taken back.
  await inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `billing:${payerId}`);
    const current = await transfers.selectTransfer(trx, reference);
    if (current?.reversed_at) await takeCredits(trx, current, deps.clock.now());
  });
  const returned = await transfers.selectReturnOf(deps.db, invoiceId);
  if (returned?.returned_reference) await creditTransfer(deps, invoiceId, returned);
  await mirrorInvoice(deps, invoiceId);
  await announceToMembers(deps, payerId, "user_subscriptions", "wallets");
}
