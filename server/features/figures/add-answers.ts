/** Answers by model and by the day on which they ended. They are read in the order in which they began; running ones wait in a table. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { firstTextGrowth } from "#domain/figures.ts";
import type { Trx } from "../../db/transaction.ts";
import type { Added, Range } from "./marks.ts";

/** Adds the answers of `done`, another part of the statement, to the sums. The ledger's entries say which grants paid for them. */
const counted: RawBuilder<unknown> = sql`
  insert into daily_answers as known (day, model_id, completed, stopped, failed, credits, sold_credits, cost_micro_dollars, uncosted)
    select (d.ended_at at time zone 'UTC')::date, d.model_id, count(*) filter (where d.status = 'completed'), count(*) filter (where d.status = 'stopped'),
        count(*) filter (where d.status = 'failed'), coalesce(sum(d.charged_credits), 0), coalesce(sum(sold.credits), 0),
        coalesce(sum(d.cost_micro_dollars), 0), count(*) filter (where d.charged_credits > 0 and d.cost_micro_dollars is null)
      from done d left join lateral (
        select sum(e.amount) as credits from ledger_entries e join grants g on g.id = e.grant_id
          where e.transaction_id = d.capture_id and e.account = 'spent' and g.kind in ('plan', 'pack')) sold on d.capture_id is not null
      group by 1, 2 order by 1, 2
    on conflict (day, model_id) do update set completed = known.completed + excluded.completed, stopped = known.stopped + excluded.stopped,
      failed = known.failed + excluded.failed, credits = known.credits + excluded.credits, sold_credits = known.sold_credits + excluded.sold_credits,
      cost_micro_dollars = known.cost_micro_dollars + excluded.cost_micro_dollars, uncosted = known.uncosted + excluded.uncosted`;

/** Counts the answers of `done` by the time to their first text. */
const timed: RawBuilder<unknown> = sql`
  insert into daily_first_texts as known (day, model_id, bucket, answers)
    select (d.ended_at at time zone 'UTC')::date, d.model_id, ceil(ln(greatest(d.first_text_ms, 1)) / ln(${firstTextGrowth}::float8))::smallint, count(*)
      from done d where d.first_text_ms is not null group by 1, 2, 3 order by 1, 2, 3
    on conflict (day, model_id, bucket) do update set answers = known.answers + excluded.answers`;

/** Adds answers that were still running when their id was passed and have ended since. There are only as many as run at once. */
export async function addWaited(trx: Trx): Promise<void> {
  await sql`with done as (
      delete from waiting_answers w using generations g where g.id = w.generation_id and g.ended_at is not null
        returning g.ended_at, g.model_id, g.status, g.charged_credits, g.cost_micro_dollars, g.capture_id, g.first_text_ms),
      times as (${timed})
    ${counted}`.execute(trx);
}

export async function addAnswers(trx: Trx, { after, upTo, limit }: Range): Promise<Added> {
  await addWaited(trx);
  const { rows } = await sql<Added>`
    with batch as materialized (
        select id, ended_at, model_id, status, charged_credits, cost_micro_dollars, capture_id, first_text_ms
          from generations
          where id > ${after} and id <= ${upTo} order by id limit ${limit}),
      waiting as (insert into waiting_answers (generation_id) select id from batch where ended_at is null),
      done as materialized (select * from batch where ended_at is not null),
      sums as (${counted}),
      times as (${timed})
    select count(*) as rows, (select id from batch order by id desc limit 1) as last from batch`.execute(trx);
  return rows[0] ?? { rows: 0, last: null };
}
