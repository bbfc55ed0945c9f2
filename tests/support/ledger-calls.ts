/** Calls the ledger's SQL functions that no service calls directly, for tests of these functions. */
import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import type { Executor, Trx } from "#server/db/transaction.ts";
import { callEndHold } from "#server/features/credits/queries.ts";
import { translate } from "#server/features/credits/service.ts";

export interface HoldInput {
  holdId: string;
  walletId: string;
  credits: number;
  kinds: readonly GrantKind[];
  /** Business time. */
  now: Date;
  /** In wall time; after it a sweep releases the hold. */
  deadline: Date;
  wallNow: Date;
}

async function translated<T>(credits: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translate(error, credits);
  }
}

/** Reserves credits, those that expire soonest first. */
export async function holdCredits(executor: Executor, input: HoldInput): Promise<{ created: boolean; availableAfter: number }> {
  const { holdId, walletId, credits, kinds, now, deadline, wallNow } = input;
  return translated(credits, async () => {
    const { rows } = await sql<{ balance: number; held: number; created: boolean }>`/* prepared */
      select * from ledger_hold(${holdId}, ${walletId}, ${credits}, ${kinds}, ${now}, ${deadline}, ${wallNow})`.execute(executor);
    const [row] = rows;
    if (!row) throw new Error("no row");
    return { created: row.created, availableAfter: row.balance - row.held };
  });
}

/** Reserves credits in several wallets: all of it or nothing. */
export async function holdTogether(executor: Executor, holds: readonly HoldInput[]): Promise<void> {
  const column = <Value>(read: (hold: HoldInput) => Value) => holds.map(read);
  await translated(holds[0]?.credits ?? 0, () =>
    sql`select ledger_hold_many(${column((hold) => hold.holdId)}::uuid[], ${column((hold) => hold.walletId)}::uuid[],
      ${column((hold) => hold.credits)}::bigint[], ${column((hold) => `{${hold.kinds.join()}}`)}::text[], ${column((hold) => hold.now)}::timestamptz[],
      ${column((hold) => hold.deadline)}::timestamptz[], ${holds[0]?.wallNow})`.execute(executor),
  );
}

/** Ends a hold: charges `credits` of it, which may be 0, and releases the rest. `ended` is false if it had already ended. */
export async function endHold(executor: Executor, holdId: string, credits: number, now: Date, wallNow: Date) {
  return translated(credits, () => callEndHold(executor, { holdId, captured: credits, key: `capture:${holdId}`, now, endedAt: wallNow }));
}

export interface ShareInput {
  holdId: string;
  share: number;
  credits: number;
  key: string;
}

/** Charges `credits` of a share of a hold and releases the rest of the share. */
export async function settle(
  executor: Executor,
  { holdId, share, credits, key }: ShareInput,
  now: Date,
): Promise<{ settled: boolean; captured: number }> {
  return translated(credits, async () => {
    const { rows } = await sql<{ settled: boolean; captured: number }>`
      select settled, captured from ledger_settle(${holdId}, ${share}, ${credits}, ${key}, ${now}, ${new Date()})`.execute(executor);
    const [row] = rows;
    if (!row) throw new Error("no row");
    return row;
  });
}

/** Settles shares of several holds: all or none. */
export async function settleTogether(executor: Executor, shares: readonly ShareInput[], now: Date) {
  const column = <Value>(read: (share: ShareInput) => Value) => shares.map(read);
  const { rows } = await sql<{ state: string; captured: number; capture: string | null }>`
    select settled_state as state, settled_credits as captured, settled_capture as capture
      from ledger_settle_many(${column(({ holdId }) => holdId)}::uuid[], ${column(({ share }) => share)}::bigint[],
        ${column(({ credits }) => credits)}::bigint[], ${column(({ key }) => key)}::text[], ${column(() => now)}::timestamptz[], ${new Date()})
      order by settled_place`.execute(executor);
  return rows;
}

/** `creditsInAll` is the sum of all clawbacks of this grant. Returns how many credits this call took. */
export async function clawBack(trx: Trx, input: { grantId: string; creditsInAll: number; key: string }, now: Date): Promise<number> {
  return translated(input.creditsInAll, async () => {
    const { rows } = await sql<{ taken: number }>`
      select taken from ledger_claw_back(${input.grantId}, ${input.creditsInAll}, ${input.key}, ${now})`.execute(trx);
    return rows[0]?.taken ?? 0;
  });
}
