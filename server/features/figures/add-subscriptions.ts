/** Recurring revenue and subscriptions by day and plan, from the record of subscription changes, and which trials were converted. */
import { sql } from "kysely";
import { monthlyTwelfths, movementsOf, noMovements, runs } from "#domain/figures.ts";
import type { BillingInterval } from "#domain/plans.ts";
import { parsePriceId, priceCents } from "#domain/plans.ts";
import type { SubscriptionStatus } from "#domain/subscription.ts";
import type { Trx } from "../../db/transaction.ts";
import type { DailySubscriptions } from "../../db/types-figures.ts";
import type { Added, Range } from "./marks.ts";

interface State {
  plan_key: string;
  billing_interval: BillingInterval;
  price_cents: number | null;
  status: SubscriptionStatus;
}

interface Change {
  id: string;
  payerId: string | null;
  validFrom: Date;
  /** The time at which the change counts. It is never before that of the change recorded before it. */
  day: string;
  after: State;
  before: State | null;
  /** Whether none of the account's subscriptions ran before. */
  isFirst: boolean;
}

const state = (row: string) =>
  sql.raw(`json_build_object('plan_key', ${row}.plan_key, 'billing_interval', ${row}.billing_interval,
  'price_cents', ${row}.price_cents, 'status', ${row}.status)`);

async function selectChanges(trx: Trx, { after, upTo, limit }: Range): Promise<Change[]> {
  const { rows } = await sql<Change>`
    select c.id, c.billing_account_id as "payerId", c.valid_from as "validFrom",
        ((select max(e.valid_from) from subscription_changes e where e.stripe_subscription_id = c.stripe_subscription_id and e.id <= c.id)
          at time zone 'UTC')::date::text as day,
        ${state("c")} as after, case when p.id is not null then ${state("p")} end as before,
        not exists (select from subscription_changes e where e.billing_account_id = c.billing_account_id and e.id < c.id
          and e.status in ('active', 'past_due')) as "isFirst"
      from (select * from subscription_changes where id > ${after} and id <= ${upTo} order by id limit ${limit}) c
        left join lateral (select * from subscription_changes e where e.stripe_subscription_id = c.stripe_subscription_id and e.id < c.id
          order by e.id desc limit 1) p on true
      order by c.id`.execute(trx);
  return rows;
}

/** Rows from before prices were recorded get the price of the catalogue. */
function twelfthsOf(subscription: State | null): number {
  if (!subscription) return 0;
  const { plan_key: planKey, billing_interval: interval, price_cents: recorded, status } = subscription;
  const sold = parsePriceId(`${planKey}_${interval}`);
  return monthlyTwelfths(status, recorded ?? (sold ? priceCents(sold.plan, interval) : 0), interval);
}

const nothing = { running: 0, mrr: 0, started: 0, ended: 0, ...noMovements };

/** The sums of these changes, by day and plan. */
function sumsOf(changes: readonly Change[]): DailySubscriptions[] {
  const sums = new Map<string, DailySubscriptions>();
  const add = (day: string, { plan_key, billing_interval }: State, more: Partial<typeof nothing>) => {
    const key = `${day} ${plan_key} ${billing_interval}`;
    const sum = sums.get(key) ?? { day, plan_key, billing_interval, ...nothing };
    for (const [name, value] of Object.entries(more) as [keyof typeof nothing, number][]) sum[name] += value;
    sums.set(key, sum);
  };
  for (const { day, before, after } of changes) {
    const [ran, goesOn] = [before !== null && runs(before.status), runs(after.status)];
    if (!ran && !goesOn) continue;
    const [had, has] = [twelfthsOf(before), twelfthsOf(after)];
    if (before && ran) add(day, before, { running: -1, mrr: -had });
    if (goesOn) add(day, after, { running: 1, mrr: has });
    add(day, before && !goesOn ? before : after, {
      ...movementsOf(had, has),
      started: ran ? 0 : 1,
      ended: goesOn ? 0 : 1,
    });
  }
  return [...sums.values()].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

async function writeSums(trx: Trx, sums: readonly DailySubscriptions[]): Promise<void> {
  if (sums.length === 0) return;
  await sql`insert into daily_subscriptions as known
      (day, plan_key, billing_interval, running, mrr, started, ended, new, expansion, contraction, churn)
    select day, plan_key, billing_interval, running, mrr, started, ended, new, expansion, contraction, churn
      from json_populate_recordset(null::daily_subscriptions, ${JSON.stringify(sums)}::json)
    on conflict (day, plan_key, billing_interval) do update set running = known.running + excluded.running, mrr = known.mrr + excluded.mrr,
      started = known.started + excluded.started, ended = known.ended + excluded.ended, new = known.new + excluded.new,
      expansion = known.expansion + excluded.expansion, contraction = known.contraction + excluded.contraction,
      churn = known.churn + excluded.churn`.execute(trx);
}

/** Counts a trial on the day on which it began, if the account's first subscription began after it. */
async function addConverted(trx: Trx, changes: readonly Change[]): Promise<void> {
  const begun = changes.filter(({ isFirst, after, payerId }) => isFirst && payerId !== null && runs(after.status));
  if (begun.length === 0) return;
  await sql`insert into daily_people as known (day, joined, trials, converted)
    select (g.created_at at time zone 'UTC')::date, 0, 0, count(*)
      from unnest(${begun.map(({ payerId }) => payerId)}::uuid[], ${begun.map(({ validFrom }) => validFrom)}::timestamptz[]) first (payer, began)
        join wallets w on w.billing_account_id = first.payer join grants g on g.wallet_id = w.id and g.kind = 'trial' and g.created_at <= first.began
      group by 1 order by 1
    on conflict (day) do update set converted = known.converted + excluded.converted`.execute(trx);
}

export async function addSubscriptions(trx: Trx, range: Range): Promise<Added> {
  const changes = await selectChanges(trx, range);
  await writeSums(trx, sumsOf(changes));
  await addConverted(trx, changes);
  return { rows: changes.length, last: changes.at(-1)?.id ?? null };
}
