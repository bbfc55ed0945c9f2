/** The panel's lists of failed jobs, of mails that were not delivered, and of Stripe's events. */
import { sql } from "kysely";
import type { EventsQuery, LettersQuery, RefusedMailsQuery } from "../../contract/admin/work.ts";
import { EventRow, LetterRow, RefusedMailRow } from "../../contract/admin/work.ts";
import { elsewhereOf } from "../notifications/undelivered.ts";
import type { Table } from "./tables.ts";
import { byTime } from "./tables.ts";

interface Letter {
  id: string;
  job: string;
  error: string;
  attempts: number;
  payload: unknown;
  failed_at: Date;
  replayed_at: Date | null;
  discarded: boolean;
}

const states = {
  waiting: sql<boolean>`d.replayed_at is null`,
  replayed: sql<boolean>`d.replayed_at is not null and not d.discarded`,
  discarded: sql<boolean>`d.discarded`,
} as const;

function stateOf({ discarded, replayed_at: at }: Pick<Letter, "discarded" | "replayed_at">): LetterRow["state"] {
  if (discarded) return "discarded";
  return at === null ? "waiting" : "replayed";
}

export const lettersTable: Table<Letter, LetterRow, LettersQuery, "time"> = {
  columns: sql`d.id, d.job, d.error, d.attempts, d.payload, d.failed_at, d.replayed_at, d.discarded`,
  from: sql`dead_letters d`,
  ...byTime(sql`d.failed_at`, sql`d.id`),
  conditionsOf: ({ job, state }) => [
    job === undefined ? undefined : sql<boolean>`d.job = ${job}`,
    state === undefined ? undefined : states[state],
  ],
  shown: LetterRow,
  show: (row) => ({
    id: row.id,
    job: row.job,
    state: stateOf(row),
    failedAt: row.failed_at.toISOString(),
    settledAt: row.replayed_at?.toISOString() ?? null,
    attempts: row.attempts,
    error: row.error,
    payload: row.payload,
  }),
};

interface Undelivered extends Omit<Letter, "job" | "attempts" | "payload"> {
  template: string;
  recipient: string;
  parameters: Record<string, string | number>;
  user_id: string | null;
  email: string | null;
}

export const refusedMailsTable: Table<Undelivered, RefusedMailRow, RefusedMailsQuery, "time"> = {
  columns: sql`d.id, d.error, d.failed_at, d.replayed_at, d.discarded, m.template, m.recipient, m.parameters, m.user_id, i.subject as email`,
  from: sql`dead_letters d join mails m on m.id = d.mail_id left join identities i on i.user_id = m.user_id and i.kind = 'email'`,
  ...byTime(sql`d.failed_at`, sql`d.id`),
  conditionsOf: ({ state }) => [sql<boolean>`d.job = 'send-mail'`, state === undefined ? undefined : states[state]],
  shown: RefusedMailRow,
  show: (row) => ({
    id: row.id,
    template: row.template,
    recipient: row.recipient,
    error: row.error,
    failedAt: row.failed_at.toISOString(),
    userId: row.user_id,
    email: row.email,
    elsewhere: elsewhereOf(row, row.email),
    state: stateOf(row),
    settledAt: row.replayed_at?.toISOString() ?? null,
  }),
};

interface Event {
  id: string;
  type: string;
  status: Exclude<EventRow["status"], "failed">;
  object_id: string | null;
  received_at: Date;
  processed_at: Date | null;
  error: string | null;
}

/** Reads the job that acts on the event, which may be the job of another event about the same object. */
const eventLetters = sql`from dead_letters d where d.job = 'process-stripe-event' and d.replayed_at is null
  and d.payload ->> 'eventId' = coalesce(e.taken_by, e.id)`;

/** The conditions are written as in their partial indexes, so that PostgreSQL uses those. */
const eventStates = {
  received: sql<boolean>`e.status = 'received' and not exists (select ${eventLetters})`,
  failed: sql<boolean>`e.status = 'received' and exists (select ${eventLetters})`,
  set_aside: sql<boolean>`e.status = 'set_aside'`,
  discarded: sql<boolean>`e.status = 'discarded'`,
} as const;

export const eventsTable: Table<Event, EventRow, EventsQuery, "time"> = {
  columns: sql`e.id, e.type, e.status, e.object_id, e.received_at, e.processed_at,
    case when e.status = 'received' then (select d.error ${eventLetters} order by d.failed_at desc limit 1) end as error`,
  from: sql`stripe_events e`,
  ...byTime(sql`e.received_at`, sql`e.id`, "text"),
  conditionsOf: ({ type, status, event, object, customer }) => [
    type === undefined ? undefined : sql<boolean>`e.type = ${type}`,
    status === undefined ? undefined : eventStates[status],
    event === undefined ? undefined : sql<boolean>`e.id = ${event.trim()}`,
    object === undefined ? undefined : sql<boolean>`e.object_id = ${object.trim()}`,
    customer === undefined
      ? undefined
      : sql<boolean>`coalesce(e.payload #>> '{data,object,customer}', e.object_id) = ${customer.trim()} and e.payload <> '{}'`,
  ],
  shown: EventRow,
  show: (row) => ({
    id: row.id,
    type: row.type,
    status: row.error === null ? row.status : "failed",
    objectId: row.object_id,
    receivedAt: row.received_at.toISOString(),
    processedAt: row.processed_at?.toISOString() ?? null,
    error: row.error,
  }),
};
