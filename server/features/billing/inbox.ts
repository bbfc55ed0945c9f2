/** The inbox of Stripe's events. Each event is recorded once, with the job that acts on it. */
import { sql } from "kysely";
import type pg from "pg";
import { createBatcher } from "../../db/batch.ts";
import type { Executor } from "../../db/transaction.ts";
import type { JobName } from "../../queue/jobs.ts";
import type { EventOutcome } from "./event-handlers.ts";
import { unstoredTypes } from "./event-handlers.ts";

/** What we take from an event. Its copy of the object is not used; we read the object again from Stripe. */
export interface IncomingEvent {
  id: string;
  type: string;
  livemode: boolean;
  objectId: string | null;
  /** When Stripe made it, in Unix seconds; null if the event doesn't say. */
  created: number | null;
  /** JSON as it is stored, for the admin to look at. */
  payload: string;
}

const job: JobName = "process-stripe-event";

/**
 * Writes the events and their jobs with one statement, so in one round trip and one commit. An event that is known already changes nothing.
 * event-handlers.ts says which payloads are not stored. An event of the wrong livemode is set aside without a job. The events are written in the
 * order of their ids; two processes that wrote the same events in different orders could wait for each other for ever.
 */
const recordEvents = {
  name: "record-stripe-events",
  text: `with event as (
      insert into stripe_events (id, type, livemode, object_id, created_at, payload, status)
        select id, type, livemode, object_id, to_timestamp(created),
            case when type = any ($3) then '{}' else payload end, case when livemode = $2 then 'received' else 'set_aside' end
          from json_to_recordset($1::json) as incoming (id text, type text, livemode boolean, object_id text, created bigint, payload jsonb)
          order by id
        on conflict (id) do nothing returning id, status)
    insert into outbox (job, payload) select '${job}', jsonb_build_object('eventId', id) from event where status = 'received'
      returning payload->>'eventId' as id`,
};

/** The payload is JSON text already, so it is inserted unchanged. */
function toJson(event: IncomingEvent): string {
  const { id, type, livemode, objectId, created } = event;
  return `${JSON.stringify({ id, type, livemode, object_id: objectId, created }).slice(0, -1)},"payload":${event.payload}}`;
}

/** Returns the ids of the new events, each of which now has a job. */
export async function recordStripeEvents(pool: pg.Pool, events: readonly IncomingEvent[], livemode: boolean): Promise<Set<string>> {
  const values = [`[${events.map(toJson).join(",")}]`, livemode, unstoredTypes];
  const result = await pool.query<{ id: string }>({ ...recordEvents, values });
  return new Set(result.rows.map((row) => row.id));
}

const batchLimit = 32;

/**
 * Writes the events of many requests together. Each request is answered once its own event is durable. If PostgreSQL can't be reached, all
 * waiting requests fail, and Stripe delivers their events again.
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
 * Marks the waiting events of these types about one object as taken by the job of `eventId`, because one reading of the object settles all
 * of them. Returns their ids, or none if another job has taken this event and will settle it. Locks the event's own row first, so that a
 * job whose event was taken does not take later events. If a job crashes its events stay taken, because the job runs again. Until
 * `taken_until` nobody of the team can discard them: by then every call of a try is over.
 */
export async function takeWaitingEvents(
  executor: Executor,
  eventId: string,
  objectId: string,
  types: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`with own as materialized (
      select id from stripe_events where id = ${eventId} and status = 'received' and (taken_by is null or taken_by = ${eventId}) for update)
    update stripe_events set taken_by = ${eventId}, taken_until = clock_timestamp() + interval '5 minutes' where exists (select from own) and id in (
      select id from stripe_events where status = 'received' and object_id = ${objectId} and type = any (${types})
        and (taken_by is null or taken_by = ${eventId}) order by id for update skip locked)
    returning id`.execute(executor);
  return rows.map(({ id }) => id);
}

/** Keeps no payload about a customer who belongs to no account of ours: the event may come after the person's data was erased. */
export async function settleEvents(executor: Executor, eventIds: readonly string[], status: EventOutcome, now: Date): Promise<void> {
  await sql`update stripe_events set status = ${status}, processed_at = ${now}, payload = case
      when payload #>> '{data,object,customer}' is null
        or exists (select from billing_accounts where stripe_customer_id = payload #>> '{data,object,customer}')
        or exists (select from former_customers where stripe_customer_id = payload #>> '{data,object,customer}') then payload
      else '{}' end
    where id = any (${eventIds}) and status = 'received'`.execute(executor);
}

/** When Stripe made the newest recorded event, without events dated after `now`. Undefined if there is none. */
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

/** Events received before `receivedBefore` (wall time) that wait, oldest first. For those taken together, the one whose job took them. */
export async function selectWaitingEvents(executor: Executor, receivedBefore: Date, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select coalesce(taken_by, id) as id from stripe_events
    where status = 'received' and received_at < ${receivedBefore} group by 1 order by min(received_at) limit ${limit}`.execute(executor);
  return rows.map(({ id }) => id);
}
