/**
 * Money of bank transfers that goes back because a person withdrew from the contract, or used the money-back guarantee (decisions 73 and 78), or
 * because the invoice did not need it any more (decision 85). The team transfers it, within the fourteen days that the law gives, and records that;
 * until then it is listed. Money that nobody asked for becomes a finding at once, the rest after ten days.
 */
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { currency, withdrawalDays } from "#domain/plans.ts";
import type { ReturnedTransfer, TransferReturn } from "../../contract/billing/transfers.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { enqueue } from "../../queue/outbox.ts";
import { balanceOf } from "../credits/service.ts";
import { resolveSubjects } from "../findings/service.ts";
import type { Clerk } from "../team/service.ts";
import { selectTakenWhenAsked } from "./charge-returns.ts";
import { mailPayer } from "./mails.ts";
import * as queries from "./queries.ts";
import * as transfers from "./transfer-queries.ts";

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

/** Resolves the findings about a return: the money was returned, or the bank has taken the transfer back. */
async function resolve(trx: Trx, id: string, now: Date): Promise<void> {
  await resolveSubjects(trx, ["surplus_transfer", "unreturned_transfer"], [id], now);
}

/** Called when the bank has taken the transfer back: nothing is to be returned, and what was returned is claimed (transfer-claims.ts). */
export async function closeReturn(trx: Trx, reference: string, now: Date): Promise<void> {
  await transfers.claimReturn(trx, reference, now);
  const closed = await transfers.closeReturn(trx, reference, now);
  if (closed !== undefined) await resolve(trx, closed, now);
}

async function record(trx: Trx, clerk: Clerk, returned: ReturnedTransfer, now: Date): Promise<void> {
  const { invoiceId, reference, amountCents, reason } = returned;
  // If the same reference is recorded for two withdrawals at once, the second has to wait here and is then refused.
  await queries.lockSubject(trx, `transfer-return:${reference}`);
  const found = await transfers.selectReturnOf(trx, invoiceId);
  if (!found) throw new DomainError("not_found", "Nothing of a transfer for this invoice is to go back");
  await queries.lockSubject(trx, `billing:${found.billing_account_id}`);
  const request = await transfers.selectReturnOf(trx, invoiceId);
  if (request?.returned_reference === reference && request.amount_cents === amountCents && returned.currency === currency) return;
  if (!request || request.done_at !== null)
    throw new DomainError("conflict", "This money went back already, or the transfer was taken back");
  if (returned.currency !== currency || amountCents !== request.amount_cents)
    throw new DomainError("conflict", `What was asked back is ${request.amount_cents} cents of ${currency}`);
  if (!(await transfers.markReturned(trx, request.id, { reference, reason, now })))
    throw new DomainError("idempotency_conflict", "A transfer with this reference was recorded for something else");
  await resolve(trx, request.id, now);
  const payerId = request.billing_account_id;
  const credits = request.kind === "surplus" ? 0 : await selectTakenWhenAsked(trx, { invoiceId });
  const left = await balanceOf(trx, payerId);
  const parameters = { amountCents, credits, left, variant: left < 0 ? "transferDebt" : "transfer" } as const;
  await mailPayer(trx, payerId, { key: `transfer-returned:${request.id}`, template: "payment-refunded", parameters }, now);
  await enqueue(trx, "settle-transfer", { reference: request.transfer_reference ?? "" });
  const subject = await transfers.selectLongestMember(trx, payerId);
  const act = { actor: clerk.userId, subject, network: clerk.network, reason };
  await recordAct(trx, { ...act, action: "transfer.returned", details: { amountCents } });
}

/**
 * Records that the money was transferred back, and tells the person. The same again changes nothing. Throws `not_found`, `idempotency_conflict`,
 * and `conflict` if it is not what is owed.
 */
export async function returnTransfer(deps: Pick<Deps, "db" | "clock">, clerk: Clerk, returned: ReturnedTransfer): Promise<void> {
  await inTransaction(deps.db, (trx) => record(trx, clerk, returned, deps.clock.now()));
}
