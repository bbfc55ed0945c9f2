import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
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

/**
 * A mail server may take its time at each step, and a turn on its connections has to be waited for. A transaction ended by
 * PostgreSQL meanwhile would let the mail go unmarked, and out again.
 */
export async function waitForMailServer(trx: Trx): Promise<void> {
  await sql`select set_config('idle_in_transaction_session_timeout', '10min', true)`.execute(trx);
}

/** Locked until the transaction ends: a second worker waits, and then sees that it was sent. */
export async function lockMail(executor: Executor, mailId: string): Promise<Selectable<Mails> | undefined> {
  return executor.selectFrom("mails").selectAll().where("id", "=", mailId).forUpdate().executeTakeFirst();
}

export async function markSent(executor: Executor, mailId: string, sentAt: Date): Promise<void> {
  await executor.updateTable("mails").set({ sent_at: sentAt }).where("id", "=", mailId).execute();
}
