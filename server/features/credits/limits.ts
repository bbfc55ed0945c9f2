/** The limits that a person sets for their own spending. The daily cap is kept to by `answers_start`, where the price of an answer is held. */
import { sql } from "kysely";
import { defaultAlertPercent } from "#domain/spending-limits.ts";
import type { SetSpendingLimits, SpendingLimits } from "../../contract/credits/limits.ts";
import type { Db } from "../../db/database.ts";
import { payerOf } from "../../db/payer.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import { openWallet } from "./service.ts";

type OwnLimits = Omit<SpendingLimits, "alertPercent">;
const none: OwnLimits = { dailyCapCredits: null, askAboveCredits: null, todayCredits: null };

/** `now` is business time. */
export async function readLimits(executor: Executor, userId: string, now: Date): Promise<SpendingLimits> {
  const { rows } = await sql<OwnLimits>`
    select daily_cap_credits as "dailyCapCredits", ask_above_credits as "askAboveCredits",
        case when day < (${now}::timestamptz at time zone 'UTC')::date then 0 when day is not null then day_credits end as "todayCredits"
      from spending_limits where user_id = ${userId}`.execute(executor);
  const wallet = await executor
    .selectFrom("wallets")
    .select("alert_percent")
    .where("billing_account_id", "=", payerOf(userId))
    .executeTakeFirst();
  const alertPercent = wallet ? wallet.alert_percent : defaultAlertPercent;
  return { ...(rows[0] ?? none), alertPercent: alertPercent as SpendingLimits["alertPercent"] };
}

/** Sets them all or, if one can't be, none. */
export async function setLimits(db: Db, userId: string, limits: SetSpendingLimits, now: Date): Promise<SpendingLimits> {
  const { dailyCapCredits, askAboveCredits, alertPercent } = limits;
  return inTransaction(db, async (trx) => {
    if (alertPercent !== undefined) {
      await openWallet(trx, userId, now);
      await sql`select from credit_alert_set(${userId}::uuid, ${alertPercent}::integer)`.execute(trx);
    }
    await sql`select from spending_limits_set(${userId}::uuid, ${dailyCapCredits}::integer, ${askAboveCredits}::integer, ${now}::timestamptz)`.execute(
      trx,
    );
    return readLimits(trx, userId, now);
  });
}
