import { sql } from "kysely";
import type { Trx } from "../../db/transaction.ts";
import type { Added, Range } from "./marks.ts";

/** Who joined: every person opens a billing account, which stays when the person leaves. */
export async function addPeople(trx: Trx, { after, upTo, limit }: Range): Promise<Added> {
  const { rows } = await sql<Added>`
    with batch as materialized (
        select id, (created_at at time zone 'UTC')::date as day from billing_accounts where id > ${after} and id <= ${upTo} order by id limit ${limit}),
      days as (
        insert into daily_people as known (day, joined, trials, converted) select day, count(*), 0, 0 from batch group by day order by day
          on conflict (day) do update set joined = known.joined + excluded.joined)
    select count(*) as rows, (select id from batch order by id desc limit 1) as last from batch`.execute(trx);
  return rows[0] ?? { rows: 0, last: null };
}
