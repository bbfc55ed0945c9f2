/**
 * Lists unfinished work and puts it back into the outbox: jobs that failed for good (dead letters), and Stripe events that were
 * set aside because no code handled their type. API, worker and the dead-letters command use these functions.
 */
import { sql } from "kysely";
import { recordAct } from "../db/audit.ts";
import type { Db } from "../db/database.ts";
import type { Executor } from "../db/transaction.ts";
import { inTransaction } from "../db/transaction.ts";
import type { JobName } from "./jobs.ts";

/** Dead letters that have not been replayed, the oldest first. */
export async function listDeadLetters(executor: Executor, limit: number) {
  return executor
    .selectFrom("dead_letters")
    .select(["id", "job", "failed_at", "attempts", "error"])
    .where("replayed_at", "is", null)
    .orderBy("failed_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}

async function replay(db: Db, which: { id: string } | { job: string }): Promise<number> {
  const condition = "id" in which ? sql`id = ${which.id}` : sql`job = ${which.job}`;
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ id: string; job: string }>`with letters as (
        update dead_letters set replayed_at = clock_timestamp() where replayed_at is null and ${condition} returning id, job, payload)
      insert into outbox (id, job, payload) select id, job, payload from letters returning id, job`.execute(trx);
    for (const { id, job } of rows) {
      const details = { deadLetterId: id, job };
      await recordAct(trx, { actor: null, subject: null, action: "dead_letter.replayed", network: null, details });
    }
    return rows.length;
  });
}

/** Puts a dead letter back into the outbox under its own id. Returns false if there is none or it was already put back. */
export async function replayDeadLetter(db: Db, id: string): Promise<boolean> {
  return (await replay(db, { id })) > 0;
}

/** Puts all dead letters of a job back into the outbox. Returns how many. */
export async function replayDeadLetters(db: Db, job: string): Promise<number> {
  return replay(db, { job });
}

/** Counts the Stripe events that are set aside, by type. */
export async function listSetAsideEvents(executor: Executor): Promise<{ type: string; count: number }[]> {
  const result = await sql<{ type: string; count: number }>`select type, count(*) from stripe_events
    where status = 'set_aside' group by type order by type`.execute(executor);
  return result.rows;
}

const eventsAtOnce = 1_000;
const eventJob: JobName = "process-stripe-event";

/**
 * Puts all set-aside events of a type back into the outbox, 1,000 per statement. An event that still has no handler is set
 * aside again. Returns how many were put back.
 */
export async function replaySetAsideEvents(executor: Executor, type: string): Promise<number> {
  let replayed = 0;
  for (let last = ""; ; ) {
    const { rows } = await sql<{ id: string }>`with events as (
        update stripe_events set status = 'received', processed_at = null, taken_by = null
          where id in (select id from stripe_events where status = 'set_aside' and type = ${type} and id > ${last}
            order by id limit ${eventsAtOnce} for update)
          returning id),
      jobs as (insert into outbox (job, payload) select ${eventJob}, jsonb_build_object('eventId', id) from events)
      select id from events order by id`.execute(executor);
    replayed += rows.length;
    const { id } = rows.at(-1) ?? {};
    if (id === undefined) return replayed;
    last = id;
  }
}
