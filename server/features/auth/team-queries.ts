import { sql } from "kysely";
import type { Role } from "#domain/team.ts";
import type { Executor, Trx } from "../../db/transaction.ts";

/** Locks the admins who can sign in, always in the same order, so that the last two can't go at the same moment. */
export async function lockAdmins(trx: Trx): Promise<string[]> {
  const rows = await trx
    .selectFrom("users")
    .select("id")
    .where("role", "=", "admin")
    .where("banned_at", "is", null)
    .where("delete_at", "is", null)
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
  return rows.map(({ id }) => id);
}

/** Whether the person in `users` shows more than a password: a code of an app, or a passkey, which is two factors by itself. */
export const hasSecond = sql<boolean>`(exists (select from credentials where user_id = users.id and kind = 'totp')
  or exists (select from passkeys where user_id = users.id))`;

export async function selectHasSecond(executor: Executor, userId: string): Promise<boolean> {
  const row = await executor.selectFrom("users").select(hasSecond.as("has_second")).where("id", "=", userId).executeTakeFirst();
  return row?.has_second ?? false;
}

/** Returns whether this changed anything; undefined if nobody has this id. */
export async function setBannedAt(trx: Trx, userId: string, bannedAt: Date | null): Promise<boolean | undefined> {
  const before = await trx.selectFrom("users").select("banned_at").where("id", "=", userId).forNoKeyUpdate().executeTakeFirst();
  if (!before || (before.banned_at === null) === (bannedAt === null)) return before && false;
  await trx.updateTable("users").set({ banned_at: bannedAt }).where("id", "=", userId).execute();
  return true;
}

/** What the person saved of the panel's lists, which they can't open any more. */
export async function forgetViews(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom("saved_views").where("user_id", "=", userId).execute();
}

/** Somebody who has deleted their account, or was banned, has no role. */
export async function isPerson(executor: Executor, userId: string): Promise<boolean> {
  return (await executor.selectFrom("users").select("id").where("id", "=", userId).executeTakeFirst()) !== undefined;
}

export async function selectRole(executor: Executor, userId: string): Promise<Role> {
  const row = await executor
    .selectFrom("users")
    .select("role")
    .where("id", "=", userId)
    .where("delete_at", "is", null)
    .where("banned_at", "is", null)
    .executeTakeFirst();
  return row?.role ?? "user";
}
