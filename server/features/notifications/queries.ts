import type { Insertable, Selectable } from "kysely";
import type { Executor } from "../../db/transaction.ts";
import type { Mails } from "../../db/types-work.ts";

/** The new mail's id; undefined when a mail of that key exists already. */
export async function insertMail(executor: Executor, mail: Insertable<Mails>): Promise<string | undefined> {
  const row = await executor
    .insertInto("mails")
    .values(mail)
    .onConflict((conflict) => conflict.column("key").doNothing())
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/** Undefined if there is no such mail, or it was sent. */
export async function selectUnsent(executor: Executor, mailId: string): Promise<Selectable<Mails> | undefined> {
  return executor.selectFrom("mails").selectAll().where("id", "=", mailId).where("sent_at", "is", null).executeTakeFirst();
}

export async function markSent(executor: Executor, mailId: string, sentAt: Date): Promise<void> {
  await executor.updateTable("mails").set({ sent_at: sentAt, leased_until: null }).where("id", "=", mailId).execute();
}
