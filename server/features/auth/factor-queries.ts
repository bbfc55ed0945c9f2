import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { CredentialData, PendingSignIns } from "../../db/types-accounts.ts";

export type SecondFactor = "totp" | "recovery_code";
type TotpData = CredentialData["totp"];

export interface TotpRow {
  id: string;
  data: TotpData;
  created_at: Date;
  last_used_at: Date | null;
}

function selectTotp(executor: Executor, userId: string) {
  return executor
    .selectFrom("credentials")
    .select(["id", sql<TotpData>`data`.as("data"), "created_at", "last_used_at"])
    .where("user_id", "=", userId)
    .where("kind", "=", "totp");
}

export async function findTotp(executor: Executor, userId: string): Promise<TotpRow | undefined> {
  return selectTotp(executor, userId).executeTakeFirst();
}

/** Locks the person's authenticator app, so that two changes of it run one after the other. */
export async function lockTotp(trx: Trx, userId: string): Promise<TotpRow | undefined> {
  return selectTotp(trx, userId).forUpdate().executeTakeFirst();
}

/** Returns the new credential's id, or undefined if the person has an authenticator app already. */
export async function insertTotp(trx: Trx, userId: string, data: TotpData, now: Date): Promise<string | undefined> {
  const row = await trx
    .insertInto("credentials")
    .values({ user_id: userId, kind: "totp", name: null, data: JSON.stringify(data), created_at: now, last_used_at: null })
    .onConflict((conflict) => conflict.column("user_id").where("kind", "=", "totp").doNothing())
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/** Notes that the code of this period was used. Returns false if a code of this or a later period was used before. */
export async function spendTotpStep(trx: Trx, id: string, data: TotpData, now: Date): Promise<boolean> {
  const row = await trx
    .updateTable("credentials")
    .set({ data: JSON.stringify(data), last_used_at: now })
    .where("id", "=", id)
    .where(sql<number>`(data ->> 'lastStep')::bigint`, "<", data.lastStep)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertRecoveryCodes(trx: Trx, userId: string, hashes: readonly string[], now: Date): Promise<void> {
  const common = { user_id: userId, kind: "recovery_code", name: null, created_at: now, last_used_at: null } as const;
  await trx
    .insertInto("credentials")
    .values(hashes.map((hash) => ({ ...common, data: JSON.stringify({ hash }) })))
    .execute();
}

/** Uses the code up and returns the credential's id. Undefined if the person has no such code, or used it before. */
export async function spendRecoveryCode(trx: Trx, userId: string, hash: string, now: Date): Promise<string | undefined> {
  const row = await trx
    .updateTable("credentials")
    .set({ last_used_at: now })
    .where("user_id", "=", userId)
    .where("kind", "=", "recovery_code")
    .where(sql`data ->> 'hash'`, "=", hash)
    .where("last_used_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

export async function countRecoveryCodes(executor: Executor, userId: string): Promise<number> {
  const row = await executor
    .selectFrom("credentials")
    .select(sql<number>`count(*)::integer`.as("left"))
    .where("user_id", "=", userId)
    .where("kind", "=", "recovery_code")
    .where("last_used_at", "is", null)
    .executeTakeFirstOrThrow();
  return row.left;
}

export async function hasRecoveryCodeSince(executor: Executor, userId: string, since: Date): Promise<boolean> {
  const row = await executor
    .selectFrom("credentials")
    .select("id")
    .where("user_id", "=", userId)
    .where("kind", "=", "recovery_code")
    .where("created_at", ">=", since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function removeFactors(trx: Trx, userId: string, kinds: readonly SecondFactor[]): Promise<void> {
  await sql`select factors_remove(${userId}, ${[...kinds]}::text[])`.execute(trx);
}

export async function insertPendingSignIn(trx: Trx, pending: Insertable<PendingSignIns>): Promise<void> {
  await trx.insertInto("pending_sign_ins").values(pending).execute();
}

function selectPendingSignIn(executor: Executor, id: string, now: Date) {
  return executor
    .selectFrom("pending_sign_ins")
    .selectAll()
    .where("id", "=", id)
    .where("used_at", "is", null)
    .where("expires_at", ">", now);
}

/** Returns the sign-in if it still waits. */
export async function findPendingSignIn(executor: Executor, id: string, now: Date): Promise<Selectable<PendingSignIns> | undefined> {
  return selectPendingSignIn(executor, id, now).executeTakeFirst();
}

export async function lockPendingSignIn(trx: Trx, id: string, now: Date): Promise<Selectable<PendingSignIns> | undefined> {
  return selectPendingSignIn(trx, id, now).forUpdate().executeTakeFirst();
}

/** Ends the sign-ins of this person that wait for anything. */
export async function endPendingSignIns(trx: Trx, userId: string, now: Date): Promise<void> {
  await trx.updateTable("pending_sign_ins").set({ used_at: now }).where("user_id", "=", userId).where("used_at", "is", null).execute();
}

export async function spendPendingSignIn(trx: Trx, id: string, now: Date): Promise<void> {
  await trx.updateTable("pending_sign_ins").set({ used_at: now }).where("id", "=", id).execute();
}
