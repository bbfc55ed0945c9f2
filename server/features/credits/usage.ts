/** What was spent on answers, by day and model. The sums are kept up by the transaction that writes a receipt (`usage_count`). */
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { Usage, UsageRange } from "../../contract/usage.ts";
import { payerOf } from "../../db/payer.ts";
import type { Executor } from "../../db/transaction.ts";

const daysOf: Record<Exclude<UsageRange, "12m">, number> = { "7d": 7, "30d": 30, "90d": 90 };

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The first day of a range that ends today: of so many days, or of this month and the eleven before. */
function firstDay(range: UsageRange, now: Date): string {
  if (range !== "12m") return dayOf(addMilliseconds(now, (1 - daysOf[range]) * dayMs));
  return dayOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11, 1)));
}

/** Usage of the account that pays for the person: at most a row for each day or month and model, however many answers there were. */
export async function readUsage(executor: Executor, userId: string, range: UsageRange, now: Date): Promise<Usage> {
  const unit = range === "12m" ? "month" : "day";
  const [from, to] = [firstDay(range, now), dayOf(now)];
  const { rows: sums } = await sql<Usage["sums"][number]>`
    select date_trunc(${unit}, day::timestamp)::date::text as start, model_id as "modelId", sum(answers)::bigint as answers,
        sum(credits)::bigint as credits
      from usage_days where billing_account_id = ${payerOf(userId)} and day between ${from}::date and ${to}::date
      group by 1, 2 order by 1, 2`.execute(executor);
  return { from, to, unit, sums };
}
