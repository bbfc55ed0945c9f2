/** SQL of the wallet. Credits move only through the ledger's functions in the migrations. */
import { sql } from "kysely";
import type { ClawbackReason, GrantKind } from "#domain/credits.ts";
import { payerOf } from "../../db/payer.ts";
import type { Executor } from "../../db/transaction.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";

/** What a grant was given for: its objects at Stripe and its entry in the catalogue. A field is null if it does not apply. */
export interface GrantSource {
  invoiceId: string | null;
  invoiceLineId: string | null;
  chargeId: string | null;
  packKey: string | null;
  /** Which month of a year, 0 to 11, the invoice's line is for. */
  invoiceMonth: number | null;
}

export interface Balances {
  balance: number;
  held: number;
}

/** The wallet of the account that pays for the person. */
export async function findWalletId(executor: Executor, userId: string): Promise<string | undefined> {
  const row = await executor.selectFrom("wallets").select("id").where("billing_account_id", "=", payerOf(userId)).executeTakeFirst();
  return row?.id;
}

/** Makes the account's wallet if it has none. */
export async function ensureWallet(executor: Executor, payerId: string, now: Date): Promise<string> {
  const find = executor.selectFrom("wallets").select("id").where("billing_account_id", "=", payerId);
  const known = await find.executeTakeFirst();
  if (known) return known.id;
  const inserted = await executor
    .insertInto("wallets")
    .values({ billing_account_id: payerId, created_at: now })
    .onConflict((conflict) => conflict.column("billing_account_id").doNothing())
    .returning("id")
    .executeTakeFirst();
  const id = inserted?.id ?? (await find.executeTakeFirst())?.id;
  if (id === undefined) throw new Error("wallet vanished");
  return id;
}

export async function callPostGrant(
  executor: Executor,
  grant: { walletId: string; kind: GrantKind; credits: number; expiresAt: Date; key: string; source: GrantSource; now: Date },
): Promise<Balances & { grant_id: string; posted: boolean }> {
  const result = await sql<Balances & { grant_id: string; posted: boolean }>`
    select * from ledger_post_grant(${grant.walletId}, ${grant.kind}, ${grant.credits}, ${grant.expiresAt}, ${grant.key}, ${grant.now},
      ${grant.source.invoiceId}, ${grant.source.invoiceLineId}, ${grant.source.chargeId}, ${grant.source.packKey},
      ${grant.source.invoiceMonth}::smallint)`.execute(executor);
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

/** `inAll`: how many of the grant's credits all returns together ask for. Returns how many this call took. */
export async function callClawBack(
  executor: Executor,
  clawback: { grantId: string; inAll: number; reason: ClawbackReason; key: string; now: Date },
): Promise<Balances & { taken: number }> {
  const { grantId, inAll, reason, key, now } = clawback;
  const result = await sql<Balances & { taken: number }>`
    select * from ledger_claw_back(${grantId}, ${inAll}, ${key}, ${now}, ${reason})`.execute(executor);
  return single(result.rows);
}

/** Returns how many credits were given back: no more than had been clawed back. */
export async function callRestore(
  executor: Executor,
  restored: { grantId: string; credits: number; key: string; now: Date },
): Promise<Balances & { given: number }> {
  const { grantId, credits, key, now } = restored;
  const result = await sql<Balances & { given: number }>`select * from ledger_restore(${grantId}, ${credits}, ${key}, ${now})`.execute(
    executor,
  );
  return single(result.rows);
}

export async function setFrozen(executor: Executor, walletId: string, frozen: boolean, now: Date): Promise<void> {
  await executor
    .updateTable("wallets")
    .set({ frozen_at: frozen ? now : null })
    .where("id", "=", walletId)
    .where("frozen_at", frozen ? "is" : "is not", null)
    .execute();
}

export async function selectBalance(executor: Executor, payerId: string): Promise<number> {
  const row = await executor.selectFrom("wallets").select("balance").where("billing_account_id", "=", payerId).executeTakeFirst();
  return row?.balance ?? 0;
}

/** The credits that may be spent of these kinds of grants: those that are not held, and never more than the wallet has in all. */
export async function selectAvailable(executor: Executor, userId: string, kinds: readonly GrantKind[], now: Date): Promise<number> {
  const result = await sql<{ available: number }>`select ledger_available(${userId}, ${kinds}, ${now}) as available`.execute(executor);
  return result.rows[0]?.available ?? 0;
}

export async function selectHasSpent(executor: Executor, userId: string): Promise<boolean> {
  const capture = await executor
    .selectFrom("ledger_transactions")
    .innerJoin("wallets", "wallets.id", "ledger_transactions.wallet_id")
    .select("ledger_transactions.id")
    .where("wallets.billing_account_id", "=", payerOf(userId))
    .where("ledger_transactions.kind", "=", "capture")
    .limit(1)
    .executeTakeFirst();
  return capture !== undefined;
}

export async function selectWallet(executor: Executor, userId: string) {
  return executor
    .selectFrom("wallets")
    .select(["id", "balance", "held", "frozen_at"])
    .where("billing_account_id", "=", payerOf(userId))
    .executeTakeFirst();
}

/** Grants that still hold something, soonest-expiring first. */
export async function selectOpenGrants(executor: Executor, walletId: string) {
  return executor
    .selectFrom("grants")
    .select(["id", "kind", "credits", "remaining", "held", "expires_at", "created_at"])
    .where("wallet_id", "=", walletId)
    .where("open", "=", true)
    .orderBy("expires_at")
    .orderBy("id")
    .execute();
}

/** A row of the ledger and the account whose wallet it is in. */
export interface OwnedRow {
  id: string;
  payer_id: string;
}

export async function selectDueGrants(executor: Executor, now: Date, limit: number): Promise<OwnedRow[]> {
  return executor
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .select(["grants.id", "wallets.billing_account_id as payer_id"])
    .where("expired_at", "is", null)
    .where("expires_at", "<=", now)
    .where(notSetAside("expired-grants", sql`grants.id`))
    .orderBy("expires_at")
    .limit(limit)
    .execute();
}

/** The account's open plan grants. The old month's grant ends when the new one is posted. */
export async function selectOpenPlanGrants(executor: Executor, payerId: string) {
  return executor
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .select(["grants.id", "grants.expires_at", "grants.created_at"])
    .where("wallets.billing_account_id", "=", payerId)
    .where("grants.kind", "=", "plan")
    .where("grants.expired_at", "is", null)
    .execute();
}

/** Holds whose deadline is over by PostgreSQL's clock, which set the deadlines. `ended_at` is the condition of the index. */
export async function selectOverdueHolds(executor: Executor, limit: number): Promise<OwnedRow[]> {
  return executor
    .selectFrom("holds")
    .innerJoin("wallets", "wallets.id", "holds.wallet_id")
    .select(["holds.id", "wallets.billing_account_id as payer_id"])
    .where("ended_at", "is", null)
    .where("deadline", "<", sql<Date>`clock_timestamp()`)
    .where(notSetAside("overdue-holds", sql`holds.id`))
    .orderBy("deadline")
    .limit(limit)
    .execute();
}

/** Open holds that should have been released `lateSeconds` ago, of the account or, without one, of all. */
export async function selectStaleHolds(executor: Executor, lateSeconds: number, limit: number, payerId?: string) {
  return executor
    .selectFrom("holds")
    .innerJoin("wallets", "wallets.id", "holds.wallet_id")
    .select([
      "holds.id",
      "wallets.billing_account_id as payer_id",
      "holds.amount",
      "holds.settled",
      sql<Date>`clock_timestamp()`.as("read_at"),
    ])
    .where("ended_at", "is", null)
    .where("deadline", "<", sql<Date>`clock_timestamp() - make_interval(secs => ${lateSeconds})`)
    .$if(payerId !== undefined, (query) => query.where("wallets.billing_account_id", "=", payerId ?? ""))
    .orderBy("deadline")
    .limit(limit)
    .execute();
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
