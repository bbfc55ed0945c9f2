import { sql } from "kysely";
import { payerOf } from "../../db/payer.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { TrialRow } from "../../db/types-billing.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";

/** The person's address and the account that pays for them. Undefined: nobody whose address is confirmed. */
export async function selectStarter(executor: Executor, userId: string): Promise<{ email: string; payer_id: string } | undefined> {
  return executor
    .selectFrom("identities")
    .select(["subject as email", payerOf(userId).as("payer_id")])
    .where("user_id", "=", userId)
    .where("kind", "=", "email")
    .executeTakeFirst();
}

/** Locks the person: a transaction that starts their trial or changes their address at the same moment waits. */
export async function lockPerson(trx: Trx, userId: string): Promise<void> {
  await trx.selectFrom("users").select("id").where("id", "=", userId).forNoKeyUpdate().execute();
}

export async function selectTrial(executor: Executor, userId: string): Promise<TrialRow | undefined> {
  return executor.selectFrom("trials").selectAll().where("user_id", "=", userId).executeTakeFirst();
}

export async function insertTrial(trx: Trx, trial: TrialRow): Promise<void> {
  await trx.insertInto("trials").values(trial).execute();
}

export async function hadTrial(executor: Executor, mailboxHashes: readonly Buffer[]): Promise<boolean> {
  const row = await executor
    .selectFrom("trial_mailboxes")
    .select("mailbox_hash")
    .where("mailbox_hash", "in", mailboxHashes)
    .executeTakeFirst();
  return row !== undefined;
}

/** False if the mailbox had a trial before. Waits for a transaction that is writing the same mailbox. */
export async function insertMailbox(trx: Trx, mailboxHash: Buffer, startedAt: Date): Promise<boolean> {
  const row = await trx
    .insertInto("trial_mailboxes")
    .values({ mailbox_hash: mailboxHash, started_at: startedAt })
    .onConflict((conflict) => conflict.column("mailbox_hash").doNothing())
    .returning("started_at")
    .executeTakeFirst();
  return row !== undefined;
}

export async function selectDueTrials(executor: Executor, now: Date, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom("trials")
    .select("user_id")
    .where("due_at", "<=", now)
    .where(notSetAside("trials", sql`user_id`))
    .orderBy("due_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.user_id);
}

/** Undefined if another worker was faster. */
export async function lockDueTrial(trx: Trx, userId: string, now: Date): Promise<TrialRow | undefined> {
  return trx.selectFrom("trials").selectAll().where("user_id", "=", userId).where("due_at", "<=", now).forUpdate().executeTakeFirst();
}

export async function setDueAt(trx: Trx, userId: string, dueAt: Date | null): Promise<void> {
  await trx.updateTable("trials").set({ due_at: dueAt }).where("user_id", "=", userId).execute();
}

/** `id`: of the person who has the trial, or of the grant. */
export interface WrongTrial {
  kind: "trial" | "grant";
  id: string;
  payerId: string;
}

/** Running trials and open grants of trials that don't belong together. Each of the two is found by an index, however many there were. */
export async function selectTrialsWithoutGrant(executor: Executor, credits: number, limit: number): Promise<WrongTrial[]> {
  const { rows } = await sql<WrongTrial>`
    select 'trial' as kind, t.user_id as id, payer_of(t.user_id) as "payerId" from trials t where t.due_at is not null and not exists (select from grants g
        join wallets w on w.id = g.wallet_id where w.billing_account_id = payer_of(t.user_id)
        and g.kind = 'trial' and g.credits = ${credits} and g.expires_at = t.ends_at and g.created_at = t.started_at)
    union all
    select 'grant', g.id, w.billing_account_id from grants g join wallets w on w.id = g.wallet_id
      where g.kind = 'trial' and g.expired_at is null and exists (select from billing_account_members m where m.billing_account_id = w.billing_account_id)
        and not exists (select from billing_account_members m join trials t on t.user_id = m.user_id
          where m.billing_account_id = w.billing_account_id and t.ends_at = g.expires_at)
    limit ${limit}`.execute(executor);
  return rows;
}
