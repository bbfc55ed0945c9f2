import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { Mails } from "../../db/types-work.ts";

export async function isOwnAddress(executor: Executor, userId: string, address: string): Promise<boolean> {
  const row = await executor
    .selectFrom("identities")
    .select("id")
    .where("user_id", "=", userId)
    .where("kind", "=", "email")
    .where("subject", "=", address.toLowerCase())
    .executeTakeFirst();
  return row !== undefined;
}

/** The kinds of mails that the person switched off. */
export async function selectDeclined(executor: Executor, userId: string): Promise<string[]> {
  const row = await executor.selectFrom("users").select("declined_mails").where("id", "=", userId).executeTakeFirst();
  return row?.declined_mails ?? [];
}

export async function updateDeclined(executor: Executor, userId: string, kind: string, wanted: boolean): Promise<void> {
  const others = sql<string[]>`array_remove(declined_mails, ${kind})`;
  await executor
    .updateTable("users")
    .set({ declined_mails: wanted ? others : sql<string[]>`array_append(${others}, ${kind})` })
    .where("id", "=", userId)
    .execute();
}

/** Returns the new mail's id, or undefined if a mail with that key exists already. */
export async function insertMail(executor: Executor, mail: Insertable<Mails>): Promise<string | undefined> {
  const row = await executor
    .insertInto("mails")
    .values(mail)
    .onConflict((conflict) => conflict.column("key").doNothing())
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/** Does not find another person's mail. */
export async function selectMailOf(executor: Executor, userId: string, mailId: string): Promise<Selectable<Mails> | undefined> {
  return executor.selectFrom("mails").selectAll().where("id", "=", mailId).where("user_id", "=", userId).executeTakeFirst();
}

/** The mail of a job that failed for good. */
export async function lockMailOfLetter(trx: Trx, letterId: string): Promise<Selectable<Mails> | undefined> {
  const { rows } = await sql<Selectable<Mails>>`select * from mails where id = (
    select mail_id from dead_letters where id = ${letterId}) for update`.execute(trx);
  return rows[0];
}

/** The person's confirmed address, and their language. */
export async function selectAddress(executor: Executor, userId: string): Promise<{ recipient: string; language: string } | undefined> {
  return executor
    .selectFrom("users")
    .innerJoin("identities", "identities.user_id", "users.id")
    .select(["subject as recipient", "language"])
    .where("users.id", "=", userId)
    .where("kind", "=", "email")
    .executeTakeFirst();
}

/** Returns undefined if there is no such mail, or if it was sent. */
export async function selectUnsent(executor: Executor, mailId: string): Promise<Selectable<Mails> | undefined> {
  return executor.selectFrom("mails").selectAll().where("id", "=", mailId).where("sent_at", "is", null).executeTakeFirst();
}

export async function markSent(executor: Executor, mailId: string, sentAt: Date): Promise<void> {
  await executor.updateTable("mails").set({ sent_at: sentAt, leased_until: null }).where("id", "=", mailId).execute();
}
