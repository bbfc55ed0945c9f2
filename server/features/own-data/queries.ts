import { sql } from "kysely";
import type { Executor } from "../../db/transaction.ts";
import type { DataExport } from "../../db/types-own-data.ts";

export async function selectLatestExport(executor: Executor, userId: string): Promise<DataExport | undefined> {
  return executor.selectFrom("data_exports").selectAll().where("user_id", "=", userId).orderBy("id", "desc").limit(1).executeTakeFirst();
}

/** Does not find another person's export. */
export async function selectExportOf(executor: Executor, userId: string, exportId: string): Promise<DataExport | undefined> {
  return executor.selectFrom("data_exports").selectAll().where("id", "=", exportId).where("user_id", "=", userId).executeTakeFirst();
}

export async function selectExport(executor: Executor, exportId: string): Promise<DataExport | undefined> {
  return executor.selectFrom("data_exports").selectAll().where("id", "=", exportId).executeTakeFirst();
}

/** When the exports since `since` were asked for, the oldest first. */
export async function selectAskedSince(executor: Executor, userId: string, since: Date): Promise<Date[]> {
  const rows = await executor
    .selectFrom("data_exports")
    .select("asked_at")
    .where("user_id", "=", userId)
    .where("asked_at", ">", since)
    .orderBy("asked_at")
    .execute();
  return rows.map((row) => row.asked_at);
}

/** Locks the person, so that their requests run one after the other. */
export async function lockPerson(executor: Executor, userId: string): Promise<void> {
  await executor.selectFrom("users").select("id").where("id", "=", userId).forNoKeyUpdate().executeTakeFirstOrThrow();
}

/** Does what `lockPerson` does, for somebody who may not exist. */
export async function lockExistingPerson(executor: Executor, userId: string) {
  return executor.selectFrom("users").select(["id", "banned_at", "delete_at"]).where("id", "=", userId).forNoKeyUpdate().executeTakeFirst();
}

export async function insertExport(executor: Executor, userId: string, now: Date, byTeam = false): Promise<DataExport> {
  const row = { user_id: userId, asked_at: now, by_team: byTeam };
  return executor.insertInto("data_exports").values(row).returningAll().executeTakeFirstOrThrow();
}

export async function markFailed(executor: Executor, exportId: string, now: Date): Promise<void> {
  await executor.updateTable("data_exports").set({ failed_at: now }).where("id", "=", exportId).where("status", "=", "making").execute();
}

/** Returns false if the export is gone or was made already. */
export async function markReady(
  executor: Executor,
  exportId: string,
  made: { readyAt: Date; expiresAt: Date; bytes: number },
): Promise<boolean> {
  const row = await executor
    .updateTable("data_exports")
    .set({ status: "ready", ready_at: made.readyAt, expires_at: made.expiresAt, bytes: made.bytes, failed_at: null, leased_until: null })
    .where("id", "=", exportId)
    .where("status", "=", "making")
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** The address and language for the mail. */
export async function selectRecipient(executor: Executor, userId: string) {
  return executor
    .selectFrom("users")
    .innerJoin("identities", "identities.user_id", "users.id")
    .select(["subject as email", "language"])
    .where("users.id", "=", userId)
    .where("kind", "=", "email")
    .executeTakeFirstOrThrow();
}

export async function dropExports(executor: Executor, userId: string): Promise<void> {
  await sql`select account_drop_exports(${userId})`.execute(executor);
}
