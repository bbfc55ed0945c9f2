/**
 * Money of plans paid by bank transfer that goes back because a person withdrew from the contract (decision 73). The team transfers it, within
 * the fourteen days that the law gives, and records that; until then it is listed, and after ten days it is among the findings.
 */
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { currency, withdrawalDays } from "#domain/plans.ts";
import type { ReturnedTransfer, TransferReturn } from "../../contract/transfers.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { enqueue } from "../../queue/outbox.ts";
import { balanceOf } from "../credits/service.ts";
import { selectTakenWhenAsked } from "./charge-returns.ts";
import { mailPayer } from "./mails.ts";
import * as queries from "./queries.ts";
import * as transfers from "./transfer-queries.ts";
import type { Clerk } from "./transfers.ts";

/** Early enough for somebody to transfer the money in time. */
const overdueMs = 10 * dayMs;
const listLimit = 100;

/** What is to be transferred back, the longest waiting first. */
export async function listReturns(executor: Executor): Promise<TransferReturn[]> {
  const rows = await transfers.selectOpenReturns(executor, listLimit);
  return rows.map(({ invoice_id, transfer_reference, amount_cents, asked_at }) => ({
    invoiceId: invoice_id,
    reference: transfer_reference ?? "",
    amountCents: amount_cents,
    currency,
    askedAt: asked_at.toISOString(),
    dueAt: addMilliseconds(asked_at, withdrawalDays * dayMs).toISOString(),
  }));
}

/** Those that should be on their way. */
export function selectOverdueReturns(executor: Executor, now: Date, limit: number) {
  return transfers.selectOpenReturns(executor, limit, addMilliseconds(now, -overdueMs));
}

async function record(trx: Trx, clerk: Clerk, returned: ReturnedTransfer, now: Date): Promise<void> {
  const { invoiceId, reference, amountCents, reason } = returned;
  // So that one reference that is recorded for two withdrawals at the same moment is refused for the second.
  await queries.lockSubject(trx, `transfer-return:${reference}`);
  const found = await transfers.selectReturnOf(trx, invoiceId);
  if (!found) throw new DomainError("not_found", "Nobody withdrew from a plan that a transfer for this invoice paid");
  await queries.lockSubject(trx, `billing:${found.billing_account_id}`);
  const request = await transfers.selectReturnOf(trx, invoiceId);
  if (request?.returned_reference === reference && request.amount_cents === amountCents && returned.currency === currency) return;
  if (!request || request.done_at !== null)
    throw new DomainError("conflict", "This money went back already, or the transfer was taken back");
  if (returned.currency !== currency || amountCents !== request.amount_cents)
    throw new DomainError("conflict", `The withdrawal is about ${request.amount_cents} cents of ${currency}`);
  if (!(await transfers.markReturned(trx, request.id, { reference, reason, now })))
    throw new DomainError("idempotency_conflict", "A transfer with this reference was recorded for something else");
  const payerId = request.billing_account_id;
  const credits = await selectTakenWhenAsked(trx, { invoiceId });
  const parameters = { amountCents, credits, left: await balanceOf(trx, payerId), variant: "transfer" } as const;
  await mailPayer(trx, payerId, { key: `transfer-returned:${request.id}`, template: "payment-refunded", parameters }, now);
  await enqueue(trx, "settle-transfer", { reference: request.transfer_reference ?? "" });
  const subject = await transfers.selectLongestMember(trx, payerId);
  await recordAct(trx, { actor: clerk.userId, subject, action: "transfer.returned", network: clerk.network, details: { amountCents } });
}

/**
 * Records that the money was transferred back, and tells the person. The same again changes nothing. Throws `not_found`, `idempotency_conflict`,
 * and `conflict` if it is not what is owed.
 */
export async function returnTransfer(deps: Pick<Deps, "db" | "clock">, clerk: Clerk, returned: ReturnedTransfer): Promise<void> {
  await inTransaction(deps.db, (trx) => record(trx, clerk, returned, deps.clock.now()));
}
