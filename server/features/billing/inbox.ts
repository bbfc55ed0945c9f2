/** The inbox of Stripe's events: each recorded once, with the job that acts on it. */
import { sql } from "kysely";
import type pg from "pg";
import type { Executor } from "../../db/transaction.ts";
import type { JobName } from "../../queue/jobs.ts";

/** What an event says about itself; what it says about its object is never believed, only re-read. */
export interface IncomingEvent {
  id: string;
  type: string;
  livemode: boolean;
  objectId: string | null;
  /** JSON as it is stored, for the admin to look at. */
  payload: string;
}

const job: JobName = "process-stripe-event";

/**
 * One statement, so one round trip and one commit: the event and its job, or neither. An event that is known already
 * changes nothing. The wrong livemode is set aside without a job.
 */
const recordEvent = {
  name: "record-stripe-event",
  text: `with event as (
      insert into stripe_events (id, type, livemode, object_id, payload, status) values ($1, $2, $3, $4, $5, $6)
        on conflict (id) do nothing returning id, status),
    queued as (
      insert into outbox (job, payload) select '${job}', jsonb_build_object('eventId', id) from event where status = 'received')
    select count(*) as recorded from event`,
};

/** True when the event is new. */
export async function recordStripeEvent(pool: pg.Pool, event: IncomingEvent, livemode: boolean): Promise<boolean> {
  const status = event.livemode === livemode ? "received" : "set_aside";
  const values = [event.id, event.type, event.livemode, event.objectId, event.payload, status];
  const result = await pool.query<{ recorded: number }>({ ...recordEvent, values });
  return result.rows[0]?.recorded === 1;
}

export async function selectEvent(executor: Executor, eventId: string) {
  return executor.selectFrom("stripe_events").select(["id", "type", "object_id", "status"]).where("id", "=", eventId).executeTakeFirst();
}

export async function settleEvent(executor: Executor, eventId: string, status: "processed" | "ignored", now: Date): Promise<void> {
  await executor
    .updateTable("stripe_events")
    .set({ status, processed_at: now })
    .where("id", "=", eventId)
    .where("status", "=", "received")
    .execute();
}

/** Unix seconds at Stripe of the newest event we know; null before the first. */
export async function selectNewestEventTime(executor: Executor): Promise<number | null> {
  const result = await sql<{ newest: number | null }>`select max((payload->>'created')::bigint) as newest from stripe_events`.execute(
    executor,
  );
  return result.rows[0]?.newest ?? null;
}

export async function selectKnownEvents(executor: Executor, eventIds: readonly string[]): Promise<Set<string>> {
  if (eventIds.length === 0) return new Set();
  const rows = await executor.selectFrom("stripe_events").select("id").where("id", "in", eventIds).execute();
  return new Set(rows.map((row) => row.id));
}

/** Events that were received before `receivedBefore` (wall time) and still wait, oldest first. */
export async function selectWaitingEvents(executor: Executor, receivedBefore: Date, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom("stripe_events")
    .select("id")
    .where("status", "=", "received")
    .where("received_at", "<", receivedBefore)
    .orderBy("received_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}
