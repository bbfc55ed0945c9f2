import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { SupportAccessRow } from "../../db/types-support-access.ts";

export async function selectAccess(executor: Executor, userId: string): Promise<SupportAccessRow | undefined> {
  return executor.selectFrom("support_access").selectAll().where("user_id", "=", userId).executeTakeFirst();
}

export async function upsertGiven(trx: Trx, userId: string, givenAt: Date, until: Date): Promise<SupportAccessRow> {
  const given = { given_at: givenAt, until, ended_at: null };
  return trx
    .insertInto("support_access")
    .values({ user_id: userId, ...given })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(given))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function lockAccess(trx: Trx, userId: string): Promise<SupportAccessRow | undefined> {
  return trx.selectFrom("support_access").selectAll().where("user_id", "=", userId).forUpdate().executeTakeFirst();
}

export async function setEnded(trx: Trx, userId: string, endedAt: Date): Promise<void> {
  await trx.updateTable("support_access").set({ ended_at: endedAt }).where("user_id", "=", userId).execute();
}

/**
 * Until when the team may read now; undefined: it may not. The row stays locked, so that nobody takes the consent back before the transaction ends.
 * If somebody is taking it back at this moment, PostgreSQL waits for them and looks at the row again.
 */
export async function lockRunning(trx: Trx, userId: string, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ until: Date }>`select a.until from support_access a join users u on u.id = a.user_id
    where a.user_id = ${userId} and a.ended_at is null and a.until > ${now} and u.delete_at is null
    for share of a`.execute(trx);
  return rows[0]?.until;
}

/** Who is asked, as long as they can sign in. */
export async function selectAsked(trx: Trx, userId: string) {
  const { rows } = await sql<{ email: string; language: string; can_sign_in: boolean }>`select i.subject as email, u.language,
      u.delete_at is null and u.banned_at is null as can_sign_in
    from users u join identities i on i.user_id = u.id and i.kind = 'email' where u.id = ${userId}`.execute(trx);
  return rows[0];
}

/** Returns whether the team may ask now: not again after `since`. A request takes the place of an earlier no. */
export async function upsertAsked(trx: Trx, userId: string, askedAt: Date, since: Date): Promise<boolean> {
  const { rows } = await sql`insert into support_access (user_id, asked_at) values (${userId}, ${askedAt})
    on conflict (user_id) do update set asked_at = excluded.asked_at
      where support_access.asked_at is null or support_access.asked_at <= ${since} returning user_id`.execute(trx);
  return rows.length > 0;
}
