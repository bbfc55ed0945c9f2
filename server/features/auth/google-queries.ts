import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { GoogleAnswers } from "../../db/types-accounts.ts";

export type GoogleAnswer = Selectable<GoogleAnswers>;

export async function insertAnswer(executor: Executor, answer: Insertable<GoogleAnswers>): Promise<void> {
  await executor.insertInto("google_answers").values(answer).execute();
}

/** Locks the answer, so that only one transaction uses it. Undefined if it was used or is too old. */
export async function lockAnswer(trx: Trx, id: string, now: Date): Promise<GoogleAnswer | undefined> {
  return trx
    .selectFrom("google_answers")
    .selectAll()
    .where("id", "=", id)
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .forUpdate()
    .executeTakeFirst();
}

export async function spendAnswer(trx: Trx, id: string, now: Date): Promise<void> {
  await trx.updateTable("google_answers").set({ used_at: now }).where("id", "=", id).execute();
}

/** The person to whom this Google account is linked. */
export async function findOwner(executor: Executor, subject: string): Promise<string | undefined> {
  const row = await executor
    .selectFrom("identities")
    .select("user_id")
    .where("kind", "=", "google")
    .where("subject", "=", subject)
    .executeTakeFirst();
  return row?.user_id;
}

export async function findGoogle(executor: Executor, userId: string) {
  return executor
    .selectFrom("identities")
    .select(["subject", "shown_as as email", "created_at as linked_at"])
    .where("kind", "=", "google")
    .where("user_id", "=", userId)
    .executeTakeFirst();
}

/** Returns false if the Google account is linked already, or the person has another one. */
export async function insertGoogle(trx: Trx, userId: string, { subject, email }: GoogleAnswer, now: Date): Promise<boolean> {
  const row = await trx
    .insertInto("identities")
    .values({ user_id: userId, kind: "google", subject, shown_as: email, verified_at: now, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteGoogle(trx: Trx, userId: string): Promise<void> {
  await sql`select google_unlink(${userId})`.execute(trx);
}
