/** The inbox of Stripe's events: each recorded once, with the job that acts on it. */
import { sql } from "kysely";
import type pg from "pg";
import { createBatcher } from "../../db/batch.ts";
import type { Executor } from "../../db/transaction.ts";
import type { JobName } from "../../queue/jobs.ts";

/** What an event says about itself. What it says about its object is not used; the object is read again. */
export interface IncomingEvent {
  id: string;
  type: string;
  livemode: boolean;
  objectId: string | null;
  /** When Stripe made it, Unix seconds; null where it doesn't say. */
  created: number | null;
  /** JSON as it is stored, for the admin to look at. */
  payload: string;
}

const job: JobName = "process-stripe-event";

/**
 * One statement, so one round trip and one commit: the events and their jobs, or nothing. An event that is known already
 * changes nothing. What it says of a customer who was deleted is not kept. An event of the wrong livemode is set aside without a job. They are written in the order of their ids: two processes
 * that write the same events in different orders would wait for each other.
 */
const recordEvents = {
  name: "record-stripe-events",
  text: `with event as (
      insert into stripe_events (id, type, livemode, object_id, created_at, payload, status)
        select id, type, livemode, object_id, to_timestamp(created),
            case when type = 'customer.deleted' then '{}' else payload end, case when livemode = $2 then 'received' else 'set_aside' end
          from json_to_recordset($1::json) as incoming (id text, type text, livemode boolean, object_id text, created bigint, payload jsonb)
          order by id
        on conflict (id) do nothing returning id, status)
    insert into outbox (job, payload) select '${job}', jsonb_build_object('eventId', id) from event where status = 'received'
      returning payload->>'eventId' as id`,
};

/** The payload is JSON already and goes in as it is. */
function toJson(event: IncomingEvent): string {
  const { id, type, livemode, objectId, created } = event;
  return `${JSON.stringify({ id, type, livemode, object_id: objectId, created }).slice(0, -1)},"payload":${event.payload}}`;
}

/** Returns the ids of the new events, each of which now has a job. */
export async function recordStripeEvents(pool: pg.Pool, events: readonly IncomingEvent[], livemode: boolean): Promise<Set<string>> {
  const values = [`[${events.map(toJson).join(",")}]`, livemode];
  const result = await pool.query<{ id: string }>({ ...recordEvents, values });
  return new Set(result.rows.map((row) => row.id));
}

const batchLimit = 32;

/**
 * Writes the events of many requests together. Each request gets its answer when its own event is durable. If PostgreSQL is away all
 * that wait fail together, and Stripe delivers them again.
 */
export function createInbox(pool: pg.Pool, livemode: boolean): (event: IncomingEvent) => Promise<void> {
  return createBatcher({
    limit: batchLimit,
    atOnce: 2,
    async run(events: readonly IncomingEvent[]) {
      await recordStripeEvents(pool, events, livemode);
      return events.map(() => undefined);
    },
  });
}

export async function selectEvent(executor: Executor, eventId: string) {
  return executor
    .selectFrom("stripe_events")
    .select(["id", "type", "livemode", "object_id", "status"])
    .where("id", "=", eventId)
    .executeTakeFirst();
}

/**
 * Marks the waiting events of one object, of these types, as taken by the job of `eventId`, because one reading serves all of them.
 * Returns their ids; none if another event's job has taken this one, and settles it. The own row is locked first, so that such a job
 * can't take events that came later, which it would not settle. The events of a job that crashed stay taken, because the job runs again.
 */
export async function takeWaitingEvents(
  executor: Executor,
  eventId: string,
  objectId: string,
  types: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`with own as materialized (
      select id from stripe_events where id = ${eventId} and status = 'received' and (taken_by is null or taken_by = ${eventId}) for update)
    update stripe_events set taken_by = ${eventId} where exists (select from own) and id in (
      select id from stripe_events where status = 'received' and object_id = ${objectId} and type = any (${types})
        and (taken_by is null or taken_by = ${eventId}) order by id for update skip locked)
    returning id`.execute(executor);
  return rows.map(({ id }) => id);
}

/**
 * `ignored`: nothing was written, because the event is about nothing of ours or another job has just written it. `set_aside`: no code
 * acts on this type of event yet; queue/replay.ts can put it back to work.
 */
export type EventOutcome = "processed" | "ignored" | "set_aside";

export async function settleEvents(executor: Executor, eventIds: readonly string[], status: EventOutcome, now: Date): Promise<void> {
  await executor
    .updateTable("stripe_events")
    .set({ status, processed_at: now })
    .where("id", "in", eventIds)
    .where("status", "=", "received")
    .execute();
}

/** When Stripe made the newest event we know that is not from after `now`; undefined before the first. */
export async function selectNewestEventTime(executor: Executor, now: Date): Promise<Date | undefined> {
  const row = await executor
    .selectFrom("stripe_events")
    .select("created_at")
    .where("created_at", "<=", now)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? undefined;
}

export async function selectKnownEvents(executor: Executor, eventIds: readonly string[]): Promise<Set<string>> {
  if (eventIds.length === 0) return new Set();
  const rows = await executor.selectFrom("stripe_events").select("id").where("id", "in", eventIds).execute();
  return new Set(rows.map((row) => row.id));
}

/** Events that were received before `receivedBefore` (wall time) and still wait, oldest first. For events taken together it returns only the one whose job took them. */
export async function selectWaitingEvents(executor: Executor, receivedBefore: Date, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select coalesce(taken_by, id) as id from stripe_events
    where status = 'received' and received_at < ${receivedBefore} group by 1 order by min(received_at) limit ${limit}`.execute(executor);
  return rows.map(({ id }) => id);
}
