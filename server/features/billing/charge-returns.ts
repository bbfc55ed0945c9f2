/**
 * Money that goes back to its payer takes the credits it bought with it (decision 48). For each charge of which something was returned or
 * disputed a row says how much, and `takeReturnedCredits` brings the charge's grants in line with that row, whichever came first.
 */
import { sql } from "kysely";
import type { ClawbackReason } from "#domain/credits.ts";
import { creditsToTake } from "#domain/refunds.ts";
import type { Trx } from "../../db/transaction.ts";
import type { ChargeReturnRow } from "../../db/types-billing.ts";
import { clawBack, restoreCredits, setWalletFrozen } from "../credits/service.ts";

/** What Stripe says of a charge. Money in integer cents. */
export interface ChargeState {
  chargeId: string;
  payerId: string;
  paidCents: number;
  /** By refunds that succeeded. */
  refundedCents: number;
  /** By disputes that were lost. */
  lostCents: number;
  /** A dispute waits for the bank's decision. */
  disputed: boolean;
  /** Until when the first of its disputes wants evidence; null: none does. */
  evidenceDueAt: Date | null;
}

type Returned = Pick<ChargeReturnRow, "refunded_cents" | "lost_cents" | "disputed" | "evidence_due_at">;
export const nothingReturned: Returned = { refunded_cents: 0, lost_cents: 0, disputed: false, evidence_due_at: null };

export async function selectChargeReturn(trx: Trx, chargeId: string): Promise<ChargeReturnRow | undefined> {
  return trx.selectFrom("charge_returns").selectAll().where("charge_id", "=", chargeId).executeTakeFirst();
}

export async function saveChargeReturn(trx: Trx, state: ChargeState, version: number, now: Date): Promise<ChargeReturnRow> {
  const row = {
    charge_id: state.chargeId,
    billing_account_id: state.payerId,
    paid_cents: state.paidCents,
    refunded_cents: state.refundedCents,
    lost_cents: state.lostCents,
    disputed: state.disputed,
    evidence_due_at: state.evidenceDueAt,
    version,
    recorded_at: now,
  };
  return trx
    .insertInto("charge_returns")
    .values(row)
    .onConflict((conflict) => conflict.column("charge_id").doUpdateSet(row))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** What paid: a charge or, if a bank transfer did, an invoice. */
export type PaidBy = { chargeId: string } | { invoiceId: string };

/**
 * All that a payment pays for, with the last month of an annual plan first: its grants, and the months that are not posted. Grants that a
 * check took back because they were posted twice are left out.
 */
async function selectSold(trx: Trx, paidBy: PaidBy): Promise<{ grantId: string | null; credits: number }[]> {
  const isPaid = paidWith(paidBy);
  const { rows } = await sql<{ grantId: string | null; credits: number }>`
    select id as "grantId", credits from (
      select id, credits, expires_at, source_key as key from grants g where ${isPaid}
          and not (clawed_back > 0 and coalesce((select true from ledger_entries e join ledger_transactions t on t.id = e.transaction_id
            where e.grant_id = g.id and e.account = 'clawed_back' and t.reason = ${"duplicate" satisfies ClawbackReason} limit 1), false))
      union all select null, credits, expires_at, key from scheduled_grants where ${isPaid} and posted_at is null
    ) sold order by expires_at desc, key`.execute(trx);
  return rows;
}

function paidWith(paidBy: PaidBy) {
  return "chargeId" in paidBy ? sql`charge_id = ${paidBy.chargeId}` : sql`invoice_id = ${paidBy.invoiceId}`;
}

function sumOf(returned: Returned): number {
  return returned.refunded_cents + returned.lost_cents;
}

/**
 * Why credits are taken now: a refund, a dispute or, if one reading of the charge found both, `payment_returned`. `row === before`: the
 * credits were posted after money of their charge had gone back, so all that went back is the reason.
 */
function reasonOf(row: ChargeReturnRow, before: Returned): ClawbackReason {
  const since = row === before ? nothingReturned : before;
  const isRefund = row.refunded_cents > since.refunded_cents;
  const isDispute = row.lost_cents > since.lost_cents;
  if (isRefund === isDispute) return "payment_returned";
  return isRefund ? "refund" : "dispute";
}

/**
 * Takes the credits that the charge's row asks for, or gives back those that only `before` asked for. Call it when the row has changed, and
 * when a grant of the charge was posted. The caller has locked the account. Returns the credits taken less those given back.
 */
export async function takeReturnedCredits(trx: Trx, row: ChargeReturnRow, before: Returned, now: Date): Promise<number> {
  const sold = await selectSold(trx, { chargeId: row.charge_id });
  const credits = sold.map((grant) => grant.credits);
  const earlier = creditsToTake(credits, sumOf(before), row.paid_cents);
  const reason = reasonOf(row, before);
  let taken = 0;
  for (const [index, inAll] of creditsToTake(credits, sumOf(row), row.paid_cents).entries()) {
    const grantId = sold[index]?.grantId;
    if (!grantId) continue;
    const key = `${grantId}:${row.version}`;
    const less = (earlier[index] ?? 0) - inAll;
    if (less > 0) taken -= await restoreCredits(trx, { grantId, credits: less, key: `restore:${key}` }, now);
    else if (inAll > 0) taken += await clawBack(trx, { grantId, inAll, reason, key: `clawback:${key}` }, now);
  }
  return taken;
}

/** How many credits of each grant are gone without having been spent: clawed back, or expired before. */
async function selectGone(trx: Trx, chargeId: string): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; gone: number }>`
    select g.id, g.clawed_back + coalesce((select sum(e.amount) from ledger_entries e
        where e.grant_id = g.id and e.account = 'expired'), 0)::bigint as gone
      from grants g where g.charge_id = ${chargeId}`.execute(trx);
  return new Map(rows.map(({ id, gone }) => [id, gone]));
}

/**
 * Takes the credits that the charge's row asks for and that were not taken. That happens only if something went wrong, because both are
 * written together. The caller has locked the account. False if nothing is missing.
 */
export async function takeMissedCredits(trx: Trx, row: ChargeReturnRow, now: Date): Promise<boolean> {
  const sold = await selectSold(trx, { chargeId: row.charge_id });
  const gone = await selectGone(trx, row.charge_id);
  const inAll = creditsToTake(
    sold.map(({ credits }) => credits),
    sumOf(row),
    row.paid_cents,
  );
  const isMissing = sold.some(({ grantId }, index) => grantId !== null && (inAll[index] ?? 0) > (gone.get(grantId) ?? 0));
  if (!isMissing) return false;
  // A new version gives new keys: the ledger may already have the present ones, of a posting whose effect was lost.
  const version = row.version + 1;
  await trx.updateTable("charge_returns").set({ version }).where("charge_id", "=", row.charge_id).execute();
  await takeReturnedCredits(trx, { ...row, version }, row, now);
  return true;
}

/** Why credits are taken before their money has gone back. */
const askedReasons = ["guarantee", "withdrawal", "late_payment"] as const satisfies ClawbackReason[];
export type AskedReason = (typeof askedReasons)[number];

/** The share of a payment that a person has asked back, with what went back before. Money in integer cents. */
interface Asked {
  paidBy: PaidBy;
  reason: AskedReason;
  returnedCents: number;
  paidCents: number;
}

/**
 * Takes the credits of money that was asked back at once, so that nobody spends them until it has gone back. The refund's event finds them
 * taken. The caller has locked the account.
 */
export async function takeAskedCredits(trx: Trx, { paidBy, reason, returnedCents, paidCents }: Asked, now: Date): Promise<void> {
  const sold = await selectSold(trx, paidBy);
  const credits = sold.map((grant) => grant.credits);
  for (const [index, inAll] of creditsToTake(credits, returnedCents, paidCents).entries()) {
    const grantId = sold[index]?.grantId;
    if (grantId && inAll > 0) await clawBack(trx, { grantId, inAll, reason, key: `clawback:asked:${grantId}` }, now);
  }
}

/** The credits that `takeAskedCredits` took of the payment. */
export async function selectTakenWhenAsked(trx: Trx, paidBy: PaidBy): Promise<number> {
  const { rows } = await sql<{ taken: number }>`
    select coalesce(sum(e.amount), 0)::bigint as taken from grants g
      join ledger_entries e on e.grant_id = g.id and e.account = 'clawed_back'
      join ledger_transactions t on t.id = e.transaction_id where ${paidWith(paidBy)} and t.reason = any (${askedReasons})`.execute(trx);
  return rows[0]?.taken ?? 0;
}

/** For credits that are posted after money of their charge went back. The caller has locked the account. */
export async function takeReturnedOfPosted(trx: Trx, chargeId: string | null, now: Date): Promise<void> {
  const row = chargeId === null ? undefined : await selectChargeReturn(trx, chargeId);
  if (row) await takeReturnedCredits(trx, row, row, now);
}

/** The wallet is frozen as long as any charge of the account is disputed. */
export async function freezeWhileDisputed(trx: Trx, payerId: string, now: Date): Promise<void> {
  const disputed = await trx
    .selectFrom("charge_returns")
    .select("charge_id")
    .where("billing_account_id", "=", payerId)
    .where("disputed", "=", true)
    .limit(1)
    .executeTakeFirst();
  await setWalletFrozen(trx, payerId, disputed !== undefined, now);
}
