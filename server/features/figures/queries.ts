/** SQL of the figures: sums of sums, over as many rows as there are days. `start` is null for everything before the range. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import type { FigureUnit } from "#domain/figures.ts";
import { mostCounted } from "#domain/figures.ts";
import type { BillingInterval } from "#domain/plans.ts";
import type { Executor } from "../../db/transaction.ts";

export interface FigureRange {
  from: string;
  to: string;
  unit: FigureUnit;
}

function startOf({ from, unit }: FigureRange): RawBuilder<string | null> {
  return sql`case when day >= ${from}::date then to_char(greatest(date_trunc(${unit}, day::timestamp), ${from}::timestamp), 'YYYY-MM-DD') end`;
}

export interface SubscriptionSum {
  start: string | null;
  plan_key: string;
  billing_interval: BillingInterval;
  running: number;
  mrr: number;
  started: number;
  ended: number;
  new: number;
  expansion: number;
  contraction: number;
  churn: number;
}

export async function selectSubscriptions(executor: Executor, range: FigureRange): Promise<SubscriptionSum[]> {
  const { rows } = await sql<SubscriptionSum>`
    select ${startOf(range)} as start, plan_key, billing_interval, sum(running)::bigint as running, sum(mrr)::bigint as mrr,
        sum(started)::bigint as started, sum(ended)::bigint as ended, sum(new)::bigint as new, sum(expansion)::bigint as expansion,
        sum(contraction)::bigint as contraction, sum(churn)::bigint as churn
      from daily_subscriptions where day <= ${range.to}::date group by 1, 2, 3 order by 1, 2, 3`.execute(executor);
  return rows;
}

export interface PeopleSum {
  start: string | null;
  joined: number;
  gone: number;
  trials: number;
  converted: number;
}

export async function selectPeople(executor: Executor, range: FigureRange): Promise<PeopleSum[]> {
  const { rows } = await sql<PeopleSum>`
    select ${startOf(range)} as start, sum(joined)::bigint as joined, sum(gone)::bigint as gone, sum(trials)::bigint as trials,
        sum(converted)::bigint as converted
      from (select day, joined, 0 as gone, trials, converted from daily_people where day <= ${range.to}::date
        union all select day, 0, people, 0, 0 from daily_departures where day <= ${range.to}::date) days group by 1`.execute(executor);
  return rows;
}

export interface CreditSum {
  start: string | null;
  grant_kind: GrantKind;
  issued: number;
  spent: number;
  expired: number;
  clawed_back: number;
  outstanding: number;
}

export async function selectCredits(executor: Executor, range: FigureRange): Promise<CreditSum[]> {
  const { rows } = await sql<CreditSum>`
    select ${startOf(range)} as start, grant_kind, sum(issued)::bigint as issued, sum(spent)::bigint as spent, sum(expired)::bigint as expired,
        sum(clawed_back)::bigint as clawed_back, sum(outstanding)::bigint as outstanding
      from daily_credits where day <= ${range.to}::date group by 1, 2`.execute(executor);
  return rows;
}

/** Credits that are left, by the month in which they expire. Credits that have expired while held, and debt, are listed under a past month. */
export async function selectExpiries(executor: Executor) {
  const { rows } = await sql<{ month: string; grant_kind: GrantKind; outstanding: number }>`
    select date_trunc('month', expires_on::timestamp)::date::text as month, grant_kind, sum(outstanding)::bigint as outstanding
      from credit_expiries group by 1, 2 having sum(outstanding) <> 0 order by 1`.execute(executor);
  return rows;
}

export interface AnswerSum {
  start: string;
  model_id: string;
  completed: number;
  stopped: number;
  failed: number;
  credits: number;
  sold_credits: number;
  cost_micro_dollars: number;
  uncosted: number;
}

export async function selectAnswers(executor: Executor, range: FigureRange): Promise<AnswerSum[]> {
  const { rows } = await sql<AnswerSum>`
    select ${startOf(range)} as start, model_id, sum(completed)::bigint as completed, sum(stopped)::bigint as stopped, sum(failed)::bigint as failed,
        sum(credits)::bigint as credits, sum(sold_credits)::bigint as sold_credits, sum(cost_micro_dollars)::bigint as cost_micro_dollars,
        sum(uncosted)::bigint as uncosted
      from daily_answers where day between ${range.from}::date and ${range.to}::date group by 1, 2`.execute(executor);
  return rows;
}

export interface FirstTexts {
  model_id: string;
  bucket: number;
  answers: number;
}

/** By model, the fastest step first. */
export async function selectFirstTexts(executor: Executor, range: FigureRange): Promise<FirstTexts[]> {
  const { rows } = await sql<FirstTexts>`select model_id, bucket, sum(answers)::bigint as answers from daily_first_texts
    where day between ${range.from}::date and ${range.to}::date group by 1, 2 order by 2, 1`.execute(executor);
  return rows;
}

/** The first day of which anything is counted; null if nothing is. */
export async function selectFirstDay(executor: Executor): Promise<string | null> {
  const { rows } = await sql<{ day: string | null }>`select least((select min(day) from daily_people), (select min(day) from daily_credits),
    (select min(day) from daily_subscriptions), (select min(day) from daily_answers))::text as day`.execute(executor);
  return rows[0]?.day ?? null;
}

/** In business time, as the days are. */
export async function selectCompleteUntil(executor: Executor): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select case when bool_and(complete_until is not null) then min(complete_until) + (business_now() - now()) end as at
      from figure_marks where source = any (array['ledger', 'subscriptions', 'answers', 'people'])`.execute(executor);
  return rows[0]?.at ?? null;
}

/** Counts no further than this. A longer queue needs somebody to look at it, whatever its length. */
const countedAtMost = 200;

export interface WaitingRows {
  count: number;
  isMore: boolean;
  oldestAt: string | null;
}

/** What waits, by the indexes that the workers use. */
export async function selectWaiting(executor: Executor): Promise<Record<"jobs" | "events" | "letters" | "clips" | "running", WaitingRows>> {
  const counted = (rows: RawBuilder<unknown>) => sql`(select jsonb_build_object('count', least(count(*), ${countedAtMost}::bigint),
    'isMore', count(*) > ${countedAtMost}::bigint, 'oldestAt', to_char(min(at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) from (${rows} limit ${countedAtMost + 1}) waiting)`;
  const result = await sql<Record<"jobs" | "events" | "letters" | "clips" | "running", WaitingRows>>`select
    ${counted(sql`select created_at as at from outbox order by id`)} as jobs,
    ${counted(sql`select received_at as at from stripe_events where status = 'received' order by received_at`)} as events,
    ${counted(sql`select failed_at as at from dead_letters where replayed_at is null`)} as letters,
    ${counted(sql`select queued_at as at from clip_jobs`)} as clips,
    ${counted(sql`select created_at as at from generations where ended_at is null order by lease_expires_at`)} as running`.execute(
    executor,
  );
  const row = result.rows[0];
  if (!row) throw new Error("no row");
  return row;
}

/** At most this many of the newest answers that have ended are read. */
const newestAnswers = 2_000;

export interface NewestAnswers {
  model_id: string;
  answers: number;
  failed: number;
}

/** The answers that began within the last hour, since answers have ids in the order in which they began. */
export async function selectNewestAnswers(executor: Executor): Promise<NewestAnswers[]> {
  const { rows } = await sql<NewestAnswers>`
    select model_id, count(*) as answers, count(*) filter (where status = 'failed') as failed
      from (select model_id, status from generations where id > (select uuidv7(interval '-1 hour')) and status <> 'streaming' order by id desc limit ${newestAnswers}) newest
      group by model_id`.execute(executor);
  return rows;
}

/** How many accounts used the model since the day. `isMore`: there are more than `mostCounted`, which is as far as they are counted. */
export async function countAccounts(executor: Executor, modelId: string, from: string): Promise<{ accounts: number; isMore: boolean }> {
  const { rows } = await sql<{ found: number }>`select count(*)::int as found from (select from model_accounts
    where model_id = ${modelId} and told in (true, false) and last_day >= ${from}::date limit ${mostCounted + 1}) counted`.execute(
    executor,
  );
  const found = rows[0]?.found ?? 0;
  return { accounts: Math.min(found, mostCounted), isMore: found > mostCounted };
}
