/**
 * The alert that a share of a month's plan credits is spent. The share is counted against the credits of the plan's grant, less what was taken
 * back of it; packs don't count. PostgreSQL notices it in the statement that spends the credits (`grants_alert_passed`), once for each grant.
 */
import { sql } from "kysely";
import { payerOf } from "../../db/payer.ts";
import type { Executor } from "../../db/transaction.ts";

export interface Alert {
  payerId: string;
  percent: number;
  /** Against which the share is counted. */
  credits: number;
}

/** The alert that a grant has raised. Undefined once the grant is over, because a late alert would be about a past month. */
export async function findAlert(executor: Executor, grantId: string, now: Date): Promise<Alert | undefined> {
  const row = await executor
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .select(["wallets.billing_account_id as payerId", "grants.alert_percent as percent", "credits", "clawed_back"])
    .where("grants.id", "=", grantId)
    .where("alert_told", "=", true)
    .where("expired_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  if (!row || row.percent === null) return undefined;
  return { payerId: row.payerId, percent: row.percent, credits: row.credits - row.clawed_back };
}

/** The share that the person's pages show as spent; null if there is no alert, or somebody has read it. */
export async function readAlert(executor: Executor, userId: string, now: Date): Promise<number | null> {
  const row = await executor
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .select("grants.alert_percent")
    .where("wallets.billing_account_id", "=", payerOf(userId))
    // Names both values, so that PostgreSQL can read the index from `now` on.
    .where("open", "in", [true, false])
    .where("expires_at", ">", now)
    .where("expired_at", "is", null)
    .where("alert_told", "=", true)
    .where("alert_dismissed", "=", false)
    .orderBy("expires_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.alert_percent ?? null;
}

export async function dismissAlert(executor: Executor, userId: string, now: Date): Promise<void> {
  await sql`select from credit_alert_dismiss(${userId}::uuid, ${now}::timestamptz)`.execute(executor);
}
