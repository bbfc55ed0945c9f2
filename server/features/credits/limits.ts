/** The limits that a person sets for their own spending. The daily cap is kept to by `answer_start`, where the price of an answer is held. */
import { sql } from "kysely";
import type { SetSpendingLimits, SpendingLimits } from "../../contract/limits.ts";
import type { Executor } from "../../db/transaction.ts";

const none: SpendingLimits = { dailyCapCredits: null, askAboveCredits: null, todayCredits: null };

/** `now` is business time. */
export async function readLimits(executor: Executor, userId: string, now: Date): Promise<SpendingLimits> {
  const { rows } = await sql<SpendingLimits>`
    select daily_cap_credits as "dailyCapCredits", ask_above_credits as "askAboveCredits",
        case when day < (${now}::timestamptz at time zone 'UTC')::date then 0 when day is not null then day_credits end as "todayCredits"
      from spending_limits where user_id = ${userId}`.execute(executor);
  return rows[0] ?? none;
}

export async function setLimits(executor: Executor, userId: string, limits: SetSpendingLimits, now: Date): Promise<SpendingLimits> {
  const { dailyCapCredits, askAboveCredits } = limits;
  await sql`select from spending_limits_set(${userId}::uuid, ${dailyCapCredits}::integer, ${askAboveCredits}::integer, ${now}::timestamptz)`.execute(
    executor,
  );
  return readLimits(executor, userId, now);
}
