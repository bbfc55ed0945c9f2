import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { FactorResets } from "../../db/types-accounts.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";

export type FactorResetRow = Selectable<FactorResets>;

/** The person's open request. */
export async function findOpenReset(executor: Executor, userId: string): Promise<FactorResetRow | undefined> {
  return executor.selectFrom("factor_resets").selectAll().where("user_id", "=", userId).where("ended_at", "is", null).executeTakeFirst();
}

export async function findReset(executor: Executor, id: string): Promise<FactorResetRow | undefined> {
  return executor.selectFrom("factor_resets").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function insertReset(trx: Trx, reset: Insertable<FactorResets>): Promise<void> {
  await trx.insertInto("factor_resets").values(reset).execute();
}

/** Ends the person's open request and returns it; undefined if they have none. Two calls at once run one after the other. */
export async function endReset(
  trx: Trx,
  userId: string,
  ending: NonNullable<FactorResetRow["ending"]>,
  now: Date,
): Promise<FactorResetRow | undefined> {
  return trx
    .updateTable("factor_resets")
    .set({ ending, ended_at: now })
    .where("user_id", "=", userId)
    .where("ended_at", "is", null)
    .returningAll()
    .executeTakeFirst();
}

/** Open requests whose next step is due by `now`. */
export async function selectDueResets(executor: Executor, now: Date, limit: number): Promise<FactorResetRow[]> {
  return executor
    .selectFrom("factor_resets")
    .selectAll()
    .where("ended_at", "is", null)
    .where("due_at", "<=", now)
    .where(notSetAside("factor-resets", sql`id`))
    .orderBy("due_at")
    .limit(limit)
    .execute();
}

/** Locks the request and returns it if its next step is still due. */
export async function lockDueReset(trx: Trx, id: string, now: Date): Promise<FactorResetRow | undefined> {
  return trx
    .selectFrom("factor_resets")
    .selectAll()
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .where("due_at", "<=", now)
    .forUpdate()
    .executeTakeFirst();
}

export async function markMailed(trx: Trx, id: string, { mailedAt, dueAt }: { mailedAt: Date; dueAt: Date }): Promise<void> {
  await trx.updateTable("factor_resets").set({ mailed_at: mailedAt, due_at: dueAt }).where("id", "=", id).execute();
}
