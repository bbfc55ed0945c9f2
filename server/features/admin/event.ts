/** One event of Stripe's, and what the team did to it. */
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { EventAct } from "../../contract/admin-work.ts";
import type { Executor } from "../../db/transaction.ts";

const shownActs = 20;

interface Row {
  at: Date;
  action: "stripe_event.replayed" | "stripe_event.discarded";
  by: string | null;
  reason: string | null;
}

/** Throws `not_found`. */
export async function readEvent(executor: Executor, eventId: string): Promise<{ payload: unknown; acts: EventAct[] }> {
  const event = await executor.selectFrom("stripe_events").select("payload").where("id", "=", eventId).executeTakeFirst();
  if (!event) throw new DomainError("not_found", "There is no such event");
  const { rows } = await sql<Row>`select e.at, e.action, i.subject as by, r.reason from audit_events e
      left join audit_reasons r on r.event_id = e.id
      left join audit_people p on p.id = e.actor
      left join identities i on i.user_id = p.user_id and i.kind = 'email'
    where e.action in ('stripe_event.replayed', 'stripe_event.discarded') and coalesce(e.details ->> 'eventId', e.details ->> 'subject') = ${eventId}
    order by e.id desc limit ${shownActs}`.execute(executor);
  const acts = rows.map(({ at, action, by, reason }) => ({
    at: at.toISOString(),
    act: action === "stripe_event.discarded" ? ("discarded" as const) : ("replayed" as const),
    by,
    reason,
  }));
  return { payload: event.payload, acts };
}
