import { sql } from "kysely";
import type { Trx } from "../../db/transaction.ts";
import type { Added, Range } from "./marks.ts";

/** Credits by day and kind of grant, what is left by its expiry, and trials by the day on which they began. */
export async function addLedger(trx: Trx, { after, upTo, limit }: Range): Promise<Added> {
  const { rows } = await sql<Added>`
    with batch as materialized (
        select id, (occurred_at at time zone 'UTC')::date as day from ledger_transactions where id > ${after} and id <= ${upTo} order by id limit ${limit}),
      entries as materialized (
        select b.day, g.kind, (g.expires_at at time zone 'UTC')::date as expires_on, e.account, e.amount
          from batch b join ledger_entries e on e.transaction_id = b.id join grants g on g.id = e.grant_id),
      days as (
        insert into daily_credits as known (day, grant_kind, issued, spent, expired, clawed_back, outstanding)
          select day, kind, coalesce(-sum(amount) filter (where account = 'issued'), 0), coalesce(sum(amount) filter (where account = 'spent'), 0),
              coalesce(sum(amount) filter (where account = 'expired'), 0), coalesce(sum(amount) filter (where account = 'clawed_back'), 0),
              coalesce(sum(amount) filter (where account = 'wallet'), 0)
            from entries group by day, kind order by day, kind
          on conflict (day, grant_kind) do update set issued = known.issued + excluded.issued, spent = known.spent + excluded.spent,
            expired = known.expired + excluded.expired, clawed_back = known.clawed_back + excluded.clawed_back,
            outstanding = known.outstanding + excluded.outstanding),
      expiries as (
        insert into credit_expiries as known (expires_on, grant_kind, outstanding)
          select expires_on, kind, sum(amount) from entries where account = 'wallet' group by expires_on, kind order by expires_on, kind
          on conflict (expires_on, grant_kind) do update set outstanding = known.outstanding + excluded.outstanding),
      trials as (
        insert into daily_people as known (day, joined, trials, converted)
          select day, 0, count(*), 0 from entries where account = 'issued' and kind = 'trial' group by day order by day
          on conflict (day) do update set trials = known.trials + excluded.trials)
    select count(*) as rows, (select id from batch order by id desc limit 1) as last from batch`.execute(trx);
  return rows[0] ?? { rows: 0, last: null };
}
