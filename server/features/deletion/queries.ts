import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { UserRow } from "../../db/types-accounts.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";

export interface Leaver extends Pick<UserRow, "role" | "language" | "delete_at"> {
  email: string;
}

/** Locks the person and returns them. Signing in, restoring and erasing the account lock the row too, so they wait. */
export async function lockLeaver(trx: Trx, userId: string): Promise<Leaver> {
  return trx
    .selectFrom("users")
    .innerJoin("identities", (join) => join.onRef("identities.user_id", "=", "users.id").on("identities.kind", "=", "email"))
    .select(["role", "language", "delete_at", "subject as email"])
    .where("users.id", "=", userId)
    .forNoKeyUpdate("users")
    .executeTakeFirstOrThrow();
}

export async function setDeleteAt(trx: Trx, userId: string, deleteAt: Date | null): Promise<void> {
  await trx.updateTable("users").set({ delete_at: deleteAt }).where("id", "=", userId).execute();
}

/** The people whose time is over, the longest overdue first. Also asks PostgreSQL's business clock, because that decides who may be erased. */
export async function selectDue(executor: Executor, now: Date, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom("users")
    .select("id")
    .where("delete_at", "<=", sql<Date>`least(${now}::timestamptz, business_now())`)
    .where(notSetAside("account-deletions", sql`id`))
    .orderBy("delete_at")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Deletes a batch of the person's rows and returns how many; 0 if the person is gone. */
export async function eraseBatch(executor: Executor, userId: string, limit: number): Promise<number> {
  // The commit need not wait for the disk: rows that a crash brings back are still due.
  const { rows } = await sql<{ done: number }>`select done
    from set_config('synchronous_commit', 'off', true), account_erase(${userId}, ${limit}) as done`.execute(executor);
  return rows[0]?.done ?? 0;
}

/** Removes what mail servers answered about the person's mails, because it may contain their address. */
export async function forgetMailErrors(executor: Executor, userId: string): Promise<void> {
  await sql`update dead_letters d set error = 'of a deleted account' where d.mail_id in (
      select id from mails where user_id = ${userId}
      union all select m.id from identities i join mails m on lower(m.recipient) = lower(i.subject) where i.user_id = ${userId} and i.kind = 'email')`.execute(
    executor,
  );
}
