/**
 * Lists unfinished work and puts it back into the outbox: jobs that failed for good (dead letters), and Stripe events that were
 * set aside because no code handled their type. API, worker and the dead-letters command use these functions.
 */
import { sql } from "kysely";
import { recordAct } from "../db/audit.ts";
import type { Db } from "../db/database.ts";
import type { Executor, Trx } from "../db/transaction.ts";
import { inTransaction } from "../db/transaction.ts";
import type { JobName } from "./jobs.ts";

const eventJob: JobName = "process-stripe-event";

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

/** Null if the payload is damaged. */
function uuidIn(name: "userId" | "requestId") {
  const value = sql`letters.payload ->> ${sql.lit(name)}`;
  return sql`case when pg_input_is_valid(${value}, 'uuid') then (${value})::uuid end`;
}

/** Who of the team does it, and why. Undefined where the operator does it by a command. */
export interface By {
  userId: string;
  network: string;
  reason: string;
}

export const byWhom = (by: By | undefined) => ({
  actor: by?.userId ?? null,
  subject: null,
  network: by?.network ?? null,
  ...(by && { reason: by.reason }),
});

/**
 * Whose letter it is, from its payload: of a mail, of a person, or of a bank transfer or money that goes back, for which an account's longest member
 * stands. Null if it names nobody, or somebody who has gone.
 */
const personOfLetter = sql`coalesce(
  (select m.user_id from mails m where m.id = letters.mail_id),
  (select u.id from users u where u.id = ${uuidIn("userId")}),
  (select m.user_id from billing_account_members m where m.billing_account_id = coalesce(
      (select b.billing_account_id from money_backs b where b.id = ${uuidIn("requestId")}),
      (select t.billing_account_id from bank_transfers t where t.reference = letters.payload ->> 'reference' limit 1))
    order by m.created_at, m.user_id limit 1))`;

/** What happened to one of several: it was done, or the reason why it was not. */
export type Outcome = "done" | "replayed" | "discarded" | "waiting" | "busy" | "settled" | "missing";

export interface Settled {
  id: string;
  outcome: Outcome;
}

/** What happened to each, in the order asked for. For those that were not done now, how they were settled before. */
async function outcomesOf(trx: Trx, ids: readonly string[], done: readonly { id: string }[]): Promise<Settled[]> {
  const before = await trx.selectFrom("dead_letters").select(["id", "discarded"]).where("id", "in", ids).execute();
  const settled = new Map<string, Outcome>(before.map(({ id, discarded }) => [id, discarded ? "discarded" : "replayed"]));
  for (const { id } of done) settled.set(id, "done");
  return ids.map((id) => ({ id, outcome: settled.get(id) ?? "missing" }));
}

interface Letter {
  id: string;
  job: string;
  /** The person it is about, if its payload says so. */
  about: string | null;
}

async function replay(trx: Trx, which: { ids: readonly string[] } | { job: string }, by?: By): Promise<Letter[]> {
  // A discarded letter can be put back by its id. But where an event of Stripe's was discarded, the event is put back (settle-events.ts).
  const condition =
    "ids" in which
      ? sql`id = any (${which.ids}::uuid[]) and (replayed_at is null or (discarded and job <> ${eventJob}))`
      : sql`job = ${which.job} and replayed_at is null`;
  const { rows } = await sql<Letter>`with letters as (
      update dead_letters set replayed_at = clock_timestamp(), discarded = false where ${condition} returning id, job, payload, mail_id),
    queued as (insert into outbox (id, job, payload) select id, job, payload from letters)
    select id, job, ${personOfLetter} as about from letters`.execute(trx);
  for (const { id, job, about } of rows) {
    const details = { deadLetterId: id, job };
    await recordAct(trx, { ...byWhom(by), subject: about, action: "dead_letter.replayed", details });
  }
  return rows;
}

/** Puts a dead letter, even a discarded one, back into the outbox under its own id. False if there is none or it was already put back. */
export async function replayDeadLetter(db: Db, id: string): Promise<boolean> {
  return inTransaction(db, async (trx) => (await replay(trx, { ids: [id] })).length > 0);
}

/** Puts all dead letters of a job back into the outbox. Returns how many. */
export async function replayDeadLetters(db: Db, job: string): Promise<number> {
  return inTransaction(db, async (trx) => (await replay(trx, { job })).length);
}

/** Does what `replayLetters` does, in the caller's transaction. Returns those that it put back. */
export async function replayLettersIn(trx: Trx, ids: readonly string[], by: By): Promise<{ id: string; job: string }[]> {
  return replay(trx, { ids }, by);
}

/** Puts these dead letters back into the outbox, also those that were discarded. Returns what happened to each. */
export async function replayLetters(db: Db, ids: readonly string[], by: By): Promise<Settled[]> {
  return inTransaction(db, async (trx) => outcomesOf(trx, ids, await replay(trx, { ids }, by)));
}

/** Does what `discardLetters` does, in the caller's transaction. Returns those that it discarded. */
export async function discardLettersIn(trx: Trx, ids: readonly string[], by: By): Promise<{ id: string; job: string }[]> {
  const { rows } = await sql<Letter>`with letters as (
      update dead_letters set replayed_at = clock_timestamp(), discarded = true
        where replayed_at is null and id = any (${ids}::uuid[]) returning id, job, payload, mail_id)
    select id, job, ${personOfLetter} as about from letters`.execute(trx);
  for (const { id, job, about } of rows)
    await recordAct(trx, { ...byWhom(by), subject: about, action: "dead_letter.discarded", details: { deadLetterId: id, job } });
  return rows;
}

/** Settles these dead letters without running their jobs. Returns what happened to each. */
export async function discardLetters(db: Db, ids: readonly string[], by: By): Promise<Settled[]> {
  return inTransaction(db, async (trx) => outcomesOf(trx, ids, await discardLettersIn(trx, ids, by)));
}

/** Counts the Stripe events that are set aside, by type. */
export async function listSetAsideEvents(executor: Executor): Promise<{ type: string; count: number }[]> {
  const result = await sql<{ type: string; count: number }>`select type, count(*) from stripe_events
    where status = 'set_aside' group by type order by type`.execute(executor);
  return result.rows;
}

const eventsAtOnce = 1_000;

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
