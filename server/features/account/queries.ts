import { sql } from "kysely";
import type { AuditAction } from "#domain/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { UserRow } from "../../db/types-accounts.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";

export async function selectAccount(executor: Executor, userId: string) {
  return executor
    .selectFrom("users")
    .innerJoin("identities", "identities.user_id", "users.id")
    .select(["users.id", "subject as email", "verified_at", "name", "language", "avatar_url", "users.created_at", "last_sign_in_at"])
    .where("users.id", "=", userId)
    .where("kind", "=", "email")
    .executeTakeFirstOrThrow();
}

/** Events of the audit log about a person, the newest first. Networks of other people, such as an admin's, are left out. */
export async function selectActivity(
  executor: Executor,
  userId: string,
  { actions, before, limit }: { actions: readonly AuditAction[]; before: string | undefined; limit: number },
) {
  return executor
    .selectFrom("audit_people")
    .innerJoin("audit_events", "audit_events.subject", "audit_people.id")
    .leftJoin("audit_origins", (join) =>
      join.onRef("audit_origins.event_id", "=", "audit_events.id").onRef("audit_origins.user_id", "=", "audit_people.user_id"),
    )
    .select(["audit_events.id", "at", "action", "details", "network"])
    .where("audit_people.user_id", "=", userId)
    .where("action", "in", actions)
    .$if(before !== undefined, (query) => query.where("audit_events.id", "<", before ?? ""))
    .orderBy("audit_events.id", "desc")
    .limit(limit)
    .execute();
}

export async function updateProfile(
  executor: Executor,
  userId: string,
  changes: Partial<Pick<UserRow, "name" | "language" | "avatar_url">>,
): Promise<void> {
  await executor.updateTable("users").set(changes).where("id", "=", userId).execute();
}

/** Writes the row of a picture that no account uses yet, so that its files can be written. */
export async function insertAvatar(executor: Executor, name: string): Promise<void> {
  await executor.insertInto("avatars").values({ name, user_id: null }).execute();
}

export async function ownAvatar(trx: Trx, userId: string, name: string): Promise<void> {
  await trx.updateTable("avatars").set({ user_id: userId }).where("name", "=", name).executeTakeFirstOrThrow();
}

/** Takes the picture from the person and returns its name; undefined if they had none. */
export async function giveUpAvatar(trx: Trx, userId: string): Promise<string | undefined> {
  const row = await trx.updateTable("avatars").set({ user_id: null }).where("user_id", "=", userId).returning("name").executeTakeFirst();
  return row?.name;
}

/** The name of the person's picture. */
export async function selectAvatar(executor: Executor, userId: string): Promise<string | undefined> {
  const row = await executor.selectFrom("avatars").select("name").where("user_id", "=", userId).executeTakeFirst();
  return row?.name;
}

/** Whether it is the picture of somebody who has not deleted their account. */
export async function isAvatar(executor: Executor, name: string): Promise<boolean> {
  const row = await executor
    .selectFrom("avatars")
    .innerJoin("users", "users.id", "avatars.user_id")
    .select("avatars.name")
    .where("avatars.name", "=", name)
    .where("delete_at", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Pictures without an account, older than an hour by PostgreSQL's clock, since no upload takes that long, and not set aside. */
export async function selectUnusedAvatars(executor: Executor, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom("avatars")
    .select("name")
    .where("user_id", "is", null)
    .where("created_at", "<", sql<Date>`now() - interval '1 hour'`)
    .where(notSetAside("unused-pictures", sql`name`))
    .orderBy("created_at")
    .limit(limit)
    .execute();
  return rows.map(({ name }) => name);
}

export async function forgetAvatar(executor: Executor, name: string): Promise<void> {
  await sql`select avatar_forget(${name})`.execute(executor);
}
