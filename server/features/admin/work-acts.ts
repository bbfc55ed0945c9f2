/** What the team did to one event of Stripe's or one failed job, and why. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { WorkAct } from "../../contract/admin/work.ts";
import type { Executor } from "../../db/transaction.ts";

const shownActs = 20;

interface Row {
  at: Date;
  action: string;
  by: string | null;
  reason: string | null;
}

/** The latest first. `which` must be the condition of an index of the log. */
async function readActs(executor: Executor, which: RawBuilder<boolean>): Promise<WorkAct[]> {
  const { rows } = await sql<Row>`select e.at, e.action, i.subject as by, r.reason from audit_events e
      left join audit_reasons r on r.event_id = e.id
      left join audit_people p on p.id = e.actor
      left join identities i on i.user_id = p.user_id and i.kind = 'email'
    where ${which} order by e.id desc limit ${shownActs}`.execute(executor);
  return rows.map(({ at, action, by, reason }) => ({
    at: at.toISOString(),
    act: action.endsWith(".discarded") ? ("discarded" as const) : ("replayed" as const),
    by,
    reason,
  }));
}

/** Throws `not_found`. */
export async function readEvent(executor: Executor, eventId: string): Promise<{ payload: unknown; acts: WorkAct[] }> {
  const event = await executor.selectFrom("stripe_events").select("payload").where("id", "=", eventId).executeTakeFirst();
  if (!event) throw new DomainError("not_found", "There is no such event");
  const which = sql<boolean>`e.action in ('stripe_event.replayed', 'stripe_event.discarded')
    and coalesce(e.details ->> 'eventId', e.details ->> 'subject') = ${eventId}`;
  return { payload: event.payload, acts: await readActs(executor, which) };
}

/** Throws `not_found`. */
export async function readLetter(executor: Executor, letterId: string): Promise<{ acts: WorkAct[] }> {
  const letter = await executor.selectFrom("dead_letters").select("id").where("id", "=", letterId).executeTakeFirst();
  if (!letter) throw new DomainError("not_found", "There is no such job");
  const which = sql<boolean>`e.action in ('dead_letter.replayed', 'dead_letter.discarded') and e.details ->> 'deadLetterId' = ${letterId}`;
  return { acts: await readActs(executor, which) };
}
