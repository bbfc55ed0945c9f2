/** Writing to the audit log (server/domain/audit.ts). */
import { sql } from "kysely";
import type { AuditAction, AuditDetails } from "#domain/audit.ts";
import type { Executor } from "./transaction.ts";

interface AuditEvent<Action extends AuditAction> {
  /** The id of the person who did it; null: the operator, or nobody knows who. */
  actor: string | null;
  /** The id of the person it was done to. */
  subject: string | null;
  action: Action;
  /** The network of the caller (client-network.ts). Stored only with a person, so that it is deleted with them. */
  network: string | null;
  details: AuditDetails[Action];
  /** Why, in the words of a team member. It is deleted with the subject. */
  reason?: string;
}

/** Writes an event, in the transaction of the act it is about. PostgreSQL notes the time. */
export async function recordAct<Action extends AuditAction>(executor: Executor, event: AuditEvent<Action>): Promise<void> {
  const { actor, subject, action, network, details, reason } = event;
  const why = reason === undefined ? sql`` : sql`, ${reason}`;
  await sql`select audit_record(${actor}, ${subject}, ${action}, ${network}, ${JSON.stringify(details)}::jsonb${why})`.execute(executor);
}
