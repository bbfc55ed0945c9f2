/**
 * Money that we lost twice (decision 88): the team transferred it back to a person, and then the bank took the person's transfer back. The panel
 * lists it under "What needs you" until the team records that the person has paid the second sum, or gives it up.
 */
import { DomainError } from "#domain/errors.ts";
import { currency } from "#domain/plans.ts";
import type { ReclaimedTransfer } from "../../contract/billing/transfers.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Clerk } from "../team/service.ts";
import * as queries from "./queries.ts";
import * as transfers from "./transfer-queries.ts";

async function record(trx: Trx, clerk: Clerk, reclaimed: ReclaimedTransfer, now: Date): Promise<void> {
  const { invoiceId, amountCents, reason } = reclaimed;
  const reference = reclaimed.reference ?? null;
  // If the same reference is recorded for two claims at once, the second has to wait here and is then refused.
  if (reference !== null) await queries.lockSubject(trx, `transfer-claim:${reference}`);
  const found = await transfers.selectReturnOf(trx, invoiceId);
  if (!found?.claimed_at) throw new DomainError("not_found", "Nothing of a transfer for this invoice went out twice");
  const payerId = found.billing_account_id;
  await queries.lockSubject(trx, `billing:${payerId}`);
  const claim = await transfers.selectReturnOf(trx, invoiceId);
  if (!claim || reclaimed.currency !== currency || amountCents !== claim.amount_cents)
    throw new DomainError("conflict", `What went out twice is ${found.amount_cents} cents of ${currency}`);
  if (claim.reclaimed_at !== null) {
    if (claim.reclaimed_reference === reference) return;
    throw new DomainError("conflict", "This is settled already");
  }
  if (!(await transfers.markReclaimed(trx, claim.id, { reference, reason, now })))
    throw new DomainError("idempotency_conflict", "A transfer with this reference was recorded for something else");
  const subject = await transfers.selectLongestMember(trx, payerId);
  const details = { amountCents, ...(reference === null ? { givenUp: true as const } : {}) };
  await recordAct(trx, { actor: clerk.userId, subject, action: "transfer.reclaimed", network: clerk.network, details, reason });
}

/**
 * Records that the second sum came, or is given up. The same again changes nothing. Throws `not_found`, `idempotency_conflict`, and `conflict` if
 * it is not what is owed or was settled another way.
 */
export async function reclaimTransfer(deps: Pick<Deps, "db" | "clock">, clerk: Clerk, reclaimed: ReclaimedTransfer): Promise<void> {
  await inTransaction(deps.db, (trx) => record(trx, clerk, reclaimed, deps.clock.now()));
}
