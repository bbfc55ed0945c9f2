/**
 * What the team does with events of Stripe's: has them acted on again, or discards those that were set aside or have failed for good. Each
 * locks the events first and in one order, so that of two admins the second is told what the first did.
 */
import { sql } from "kysely";
import { recordAct } from "../db/audit.ts";
import type { Db } from "../db/database.ts";
import type { Trx } from "../db/transaction.ts";
import { inTransaction } from "../db/transaction.ts";
import type { JobName } from "./jobs.ts";
import type { By, Outcome, Settled } from "./replay.ts";
import { byWhom, discardLettersIn, replayLettersIn } from "./replay.ts";

const job: JobName = "process-stripe-event";

interface Locked {
  id: string;
  type: string;
  status: "received" | "processed" | "ignored" | "set_aside" | "discarded";
  /** A job may be acting on it now. */
  isBusy: boolean;
  /** The event whose job acts on it: itself, or another one about the same object. */
  actedOnBy: string;
}

interface Letter {
  id: string;
  eventId: string;
}

/** In the order asked for. */
const results = (ids: readonly string[], outcomes: ReadonlyMap<string, Outcome>): Settled[] =>
  ids.map((id) => ({ id, outcome: outcomes.get(id) ?? "missing" }));

async function lockEvents(trx: Trx, ids: readonly string[]): Promise<Locked[]> {
  const { rows } = await sql<Locked>`select id, type, status, coalesce(taken_until > clock_timestamp(), false) as "isBusy",
      coalesce(taken_by, id) as "actedOnBy"
    from stripe_events where id = any (${ids}::text[]) order by id for update`.execute(trx);
  return rows;
}

/** The dead letters, not settled yet, of the jobs that act on these events. */
async function lockLetters(trx: Trx, events: readonly Locked[]): Promise<Letter[]> {
  const keys = events.flatMap(({ status, actedOnBy }) => (status === "received" ? [actedOnBy] : []));
  const { rows } = await sql<Letter>`select id, payload ->> 'eventId' as "eventId" from dead_letters
    where job = ${job} and replayed_at is null and payload ->> 'eventId' = any (${keys}::text[]) order by id for update`.execute(trx);
  return rows;
}

async function enqueue(trx: Trx, eventIds: readonly string[]): Promise<void> {
  await sql`insert into outbox (job, payload)
    select ${job}, jsonb_build_object('eventId', event) from unnest(${eventIds}::text[]) as event`.execute(trx);
}

async function record(trx: Trx, events: readonly Locked[], action: "stripe_event.replayed" | "stripe_event.discarded", by: By) {
  for (const { id, type } of events) await recordAct(trx, { ...byWhom(by), action, details: { eventId: id, type } });
}

/**
 * Has these events acted on again, whatever became of them before: a failed one by its job's dead letter, a discarded one as if it had just
 * come. Those that wait already are left alone. Returns what became of each.
 */
export async function replayEvents(db: Db, ids: readonly string[], by: By): Promise<Settled[]> {
  return inTransaction(db, async (trx) => {
    const events = await lockEvents(trx, ids);
    const letters = await lockLetters(trx, events);
    const failed = new Set(letters.map(({ eventId }) => eventId));
    const settled = events.filter(({ status }) => status !== "received");
    const done = [...settled, ...events.filter(({ status, actedOnBy }) => status === "received" && failed.has(actedOnBy))];
    const again = settled.map(({ id }) => id);
    await sql`update stripe_events set status = 'received', processed_at = null, taken_by = null, taken_until = null
      where id = any (${again}::text[])`.execute(trx);
    await enqueue(trx, again);
    await replayLettersIn(
      trx,
      letters.map(({ id }) => id),
      by,
    );
    await record(trx, done, "stripe_event.replayed", by);
    const outcomes = new Map<string, Outcome>(events.map(({ id }) => [id, "waiting"]));
    for (const { id } of done) outcomes.set(id, "done");
    return results(ids, outcomes);
  });
}

/** What would become of the event if it were discarded. */
function discarding({ status, isBusy, actedOnBy }: Locked, failed: ReadonlySet<string>): Outcome {
  if (status === "discarded") return "discarded";
  if (status === "set_aside") return "done";
  if (status !== "received") return "settled";
  if (!failed.has(actedOnBy)) return "waiting";
  return isBusy ? "busy" : "done";
}

/**
 * Discards these events: nothing acts on them any more, also if Stripe sends them again, until somebody puts them back. Only those that were
 * set aside, or whose job failed for good and which nobody acts on at this moment. Returns what became of each.
 */
export async function discardEvents(db: Db, ids: readonly string[], by: By): Promise<Settled[]> {
  return inTransaction(db, async (trx) => {
    const events = await lockEvents(trx, ids);
    const letters = await lockLetters(trx, events);
    const failed = new Set(letters.map(({ eventId }) => eventId));
    const outcomes = new Map(events.map((event) => [event.id, discarding(event, failed)]));
    const done = events.filter(({ id }) => outcomes.get(id) === "done");
    const gone = done.map(({ id }) => id);
    await sql`update stripe_events set status = 'discarded', taken_by = null, taken_until = null where id = any (${gone}::text[])`.execute(
      trx,
    );
    await discardLettersIn(
      trx,
      letters.filter(({ eventId }) => gone.includes(eventId)).map(({ id }) => id),
      by,
    );
    // The discarded event's job would also have settled other events about the same object. Those get jobs of their own.
    const { rows } = await sql<{ id: string }>`update stripe_events set taken_by = null, taken_until = null
      where status = 'received' and taken_by = any (${gone}::text[])
        and object_id in (select object_id from stripe_events where id = any (${gone}::text[])) returning id`.execute(trx);
    await enqueue(
      trx,
      rows.map(({ id }) => id),
    );
    await record(trx, done, "stripe_event.discarded", by);
    return results(ids, outcomes);
  });
}
