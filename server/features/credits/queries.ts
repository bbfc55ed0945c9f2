/** SQL of the wallet. Credits move only through the ledger's functions (migrations/0003). */
import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import type { Executor } from "../../db/transaction.ts";

export interface Balances {
  balance: number;
  held: number;
}

export async function findWalletId(executor: Executor, userId: string): Promise<string | undefined> {
  const row = await executor.selectFrom("wallets").select("id").where("user_id", "=", userId).executeTakeFirst();
  return row?.id;
}

export async function insertWallet(executor: Executor, userId: string, now: Date): Promise<string> {
  const inserted = await executor
    .insertInto("wallets")
    .values({ user_id: userId, created_at: now })
    .onConflict((conflict) => conflict.column("user_id").doNothing())
    .returning("id")
    .executeTakeFirst();
  const id = inserted?.id ?? (await findWalletId(executor, userId));
  if (id === undefined) throw new Error("wallet vanished");
  return id;
}

export async function callPostGrant(
  executor: Executor,
  grant: { walletId: string; kind: GrantKind; credits: number; expiresAt: Date; key: string; now: Date },
): Promise<Balances & { grant_id: string; posted: boolean }> {
  const result = await sql<Balances & { grant_id: string; posted: boolean }>`
    select * from ledger_post_grant(${grant.walletId}, ${grant.kind}, ${grant.credits}, ${grant.expiresAt}, ${grant.key}, ${grant.now})`.execute(
    executor,
  );
  return single(result.rows);
}

export async function callHold(
  executor: Executor,
  hold: { holdId: string; walletId: string; credits: number; kinds: readonly GrantKind[]; now: Date; deadline: Date; createdAt: Date },
): Promise<Balances & { created: boolean; state: string }> {
  const result = await sql<
    Balances & { created: boolean; state: string }
  >`/* prepared */ select * from ledger_hold(${hold.holdId}, ${hold.walletId}, ${hold.credits}, ${hold.kinds}, ${hold.now}, ${hold.deadline}, ${hold.createdAt})`.execute(
    executor,
  );
  return single(result.rows);
}

export async function callEndHold(
  executor: Executor,
  end: { holdId: string; captured: number; key: string; now: Date; endedAt: Date },
): Promise<Balances & { ended: boolean; state: "captured" | "released"; captured: number }> {
  const result = await sql<
    Balances & { ended: boolean; state: "captured" | "released"; captured: number }
  >`/* prepared */ select * from ledger_end_hold(${end.holdId}, ${end.captured}, ${end.key}, ${end.now}, ${end.endedAt})`.execute(executor);
  return single(result.rows);
}

export async function callExpireGrant(executor: Executor, grantId: string, now: Date): Promise<Balances & { expired: number }> {
  const result = await sql<Balances & { expired: number }>`select * from ledger_expire_grant(${grantId}, ${now})`.execute(executor);
  return single(result.rows);
}

export async function callClawBack(
  executor: Executor,
  clawback: { grantId: string; credits: number; key: string; now: Date },
): Promise<Balances & { posted: boolean }> {
  const result = await sql<Balances & { posted: boolean }>`
    select * from ledger_claw_back(${clawback.grantId}, ${clawback.credits}, ${clawback.key}, ${clawback.now})`.execute(executor);
  return single(result.rows);
}

/** What may be spent of the kinds named: free credits of open grants, never more than the wallet has in all. */
export async function selectAvailable(executor: Executor, userId: string, kinds: readonly GrantKind[], now: Date): Promise<number> {
  const result = await sql<{ available: number }>`
    select greatest(least(w.balance - w.held, coalesce(sum(g.remaining - g.held), 0)), 0)::bigint as available
      from wallets w left join grants g on g.wallet_id = w.id and (g.remaining <> 0 or g.held <> 0) and g.remaining > g.held
        and g.kind = any (${kinds}) and g.expired_at is null and g.expires_at > ${now}
      where w.user_id = ${userId} and w.frozen_at is null group by w.id`.execute(executor);
  return result.rows[0]?.available ?? 0;
}

export async function selectWallet(executor: Executor, userId: string) {
  return executor.selectFrom("wallets").select(["id", "balance", "held", "frozen_at"]).where("user_id", "=", userId).executeTakeFirst();
}

/** Grants that still hold something, soonest-expiring first. */
export async function selectOpenGrants(executor: Executor, walletId: string) {
  return executor
    .selectFrom("grants")
    .select(["id", "kind", "credits", "remaining", "held", "expires_at", "created_at"])
    .where("wallet_id", "=", walletId)
    .where((or) => or.or([or("remaining", "<>", 0), or("held", "<>", 0)]))
    .orderBy("expires_at")
    .orderBy("id")
    .execute();
}

export async function selectDueGrants(executor: Executor, now: Date, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom("grants")
    .select("id")
    .where("expired_at", "is", null)
    .where("expires_at", "<=", now)
    .orderBy("expires_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Plan grants of a person that are still open, for ending the old month when the new one is granted. */
export async function selectOpenPlanGrants(executor: Executor, userId: string) {
  return executor
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .select(["grants.id", "grants.source_key", "grants.expires_at", "grants.created_at"])
    .where("wallets.user_id", "=", userId)
    .where("grants.kind", "=", "plan")
    .where("grants.expired_at", "is", null)
    .execute();
}

export async function selectOverdueHolds(executor: Executor, wallNow: Date, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom("holds")
    .select("id")
    .where("state", "=", "open")
    .where("deadline", "<", wallNow)
    .orderBy("deadline")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

export interface LedgerLineRow {
  id: string;
  kind: "grant" | "capture" | "expire" | "clawback" | "repay" | "restore";
  credits: number;
  balance_after: number;
  occurred_at: Date;
  model_id: string | null;
}

/** The wallet's history, newest first, each line with the running balance; repayments move nothing in sum and are left out. */
export async function selectLedgerLines(
  executor: Executor,
  walletId: string,
  before: string | undefined,
  limit: number,
): Promise<LedgerLineRow[]> {
  const result = await sql<LedgerLineRow>`
    select * from (
      select t.id, t.kind, sum(e.amount)::bigint as credits, t.occurred_at,
          sum(sum(e.amount)) over (order by t.id)::bigint as balance_after, g.model_id
        from ledger_transactions t
        join ledger_entries e on e.transaction_id = t.id and e.account = 'wallet'
        left join generations g on t.kind = 'capture' and g.id = (t.content->>'hold')::uuid
        where t.wallet_id = ${walletId} and t.kind <> 'repay'
        group by t.id, g.model_id) lines
      where ${before ?? null}::uuid is null or id < ${before ?? null}::uuid
      order by id desc limit ${limit}`.execute(executor);
  return result.rows;
}

export async function selectDisagreements(executor: Executor): Promise<{ kind: string; id: string; recorded: number; rebuilt: number }[]> {
  const result = await sql<{ kind: string; id: string; recorded: number; rebuilt: number }>`select * from ledger_disagreements()`.execute(
    executor,
  );
  return result.rows;
}

function single<Row>(rows: Row[]): Row {
  const row = rows[0];
  if (row === undefined) throw new Error("ledger function returned no row");
  return row;
}
