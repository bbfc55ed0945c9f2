/** What was spent on answers, by day and model. The sums are kept up by the transaction that writes a receipt (`usage_count`). */
import { sql } from "kysely";
import { presetDays } from "#domain/figures.ts";
import type { Usage, UsageRange } from "../../contract/credits/usage.ts";
import { payerOf } from "../../db/payer.ts";
import type { Executor } from "../../db/transaction.ts";

/** Usage of the account that pays for the person: at most a row for each day or month and model, however many answers there were. */
export async function readUsage(executor: Executor, userId: string, range: UsageRange, now: Date): Promise<Usage> {
  const unit = range === "12m" ? "month" : "day";
  const { from, to } = presetDays(range, now);
  const { rows: sums } = await sql<Usage["sums"][number]>`
    select date_trunc(${unit}, day::timestamp)::date::text as start, model_id as "modelId", sum(answers)::bigint as answers,
        sum(credits)::bigint as credits
      from usage_days where billing_account_id = ${payerOf(userId)} and day between ${from}::date and ${to}::date
      group by 1, 2 order by 1, 2`.execute(executor);
  return { from, to, unit, sums };
}
