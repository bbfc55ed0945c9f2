import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
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

export type LeasedMail = Selectable<Mails> & {
  /** The instant the lease lasts until, as PostgreSQL writes it. It shows that the lease is still this worker's. */
  lease: string;
};

/** Undefined if there is no such mail, or it was sent, or another worker has it. */
export async function leaseMail(executor: Executor, mailId: string, leaseMs: number): Promise<LeasedMail | undefined> {
  const { rows } = await sql<LeasedMail>`
    update mails set leased_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
      where id = ${mailId} and sent_at is null and (leased_until is null or leased_until < clock_timestamp())
      returning *, leased_until::text as lease`.execute(executor);
  return rows[0];
}

/** The renewed lease. Undefined if it is another worker's by now, or the mail was sent. */
export async function renewLease(executor: Executor, mailId: string, lease: string, leaseMs: number): Promise<string | undefined> {
  const { rows } = await sql<{ lease: string }>`
    update mails set leased_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
      where id = ${mailId} and sent_at is null and leased_until = ${lease}::timestamptz returning leased_until::text as lease`.execute(
    executor,
  );
  return rows[0]?.lease;
}

export async function endLease(executor: Executor, mailId: string, lease: string): Promise<void> {
  await sql`update mails set leased_until = null where id = ${mailId} and leased_until = ${lease}::timestamptz`.execute(executor);
}

export async function isUnsent(executor: Executor, mailId: string): Promise<boolean> {
  const row = await executor.selectFrom("mails").select("id").where("id", "=", mailId).where("sent_at", "is", null).executeTakeFirst();
  return row !== undefined;
}

export async function markSent(executor: Executor, mailId: string, sentAt: Date): Promise<void> {
  await executor.updateTable("mails").set({ sent_at: sentAt, leased_until: null }).where("id", "=", mailId).execute();
}
