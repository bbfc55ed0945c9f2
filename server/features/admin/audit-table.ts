/** The audit log, as the team reads it. A person who has deleted their account is no longer named. */
import { sql } from "kysely";
import type { AuditFilter } from "../../contract/admin/team.ts";
import { AuditRow } from "../../contract/admin/team.ts";
import { shortNetwork } from "../../http/client-network.ts";
import type { Table } from "./tables.ts";

interface Row {
  id: string;
  at: Date;
  action: string;
  actor_id: string | null;
  actor_email: string | null;
  subject_id: string | null;
  subject_email: string | null;
  details: Record<string, unknown>;
  reason: string | null;
  network: string | null;
}

/** The id by which the log names the person with this address. */
const namedBy = (email: string) => sql`(select p.id from identities i join audit_people p on p.user_id = i.user_id
  where i.kind = 'email' and i.subject = ${email.trim().toLowerCase()})`;

export const auditTable: Table<Row, AuditRow, AuditFilter, "time"> = {
  columns: sql`e.id, e.at, e.action, e.details, r.reason, o.network,
    actor.user_id as actor_id, subject.user_id as subject_id, actor_identity.subject as actor_email, subject_identity.subject as subject_email`,
  from: sql`audit_events e
    left join audit_reasons r on r.event_id = e.id
    left join audit_origins o on o.event_id = e.id
    left join audit_people actor on actor.id = e.actor
    left join audit_people subject on subject.id = e.subject
    left join identities actor_identity on actor_identity.user_id = actor.user_id and actor_identity.kind = 'email'
    left join identities subject_identity on subject_identity.user_id = subject.user_id and subject_identity.kind = 'email'`,
  sorts: { time: [{ column: sql`e.id`, type: "uuid" }] },
  defaultSort: "time",
  conditionsOf: ({ action, by, about }) => [
    action === undefined ? undefined : sql<boolean>`e.action = ${action}`,
    by === undefined ? undefined : sql<boolean>`e.actor = ${namedBy(by)}`,
    about === undefined ? undefined : sql<boolean>`e.subject = ${namedBy(about)}`,
  ],
  shown: AuditRow,
  show: (row) => ({
    id: row.id,
    at: row.at.toISOString(),
    action: row.action,
    actorId: row.actor_id,
    actorEmail: row.actor_email,
    subjectId: row.subject_id,
    subjectEmail: row.subject_email,
    details: row.details,
    reason: row.reason,
    network: row.network === null ? null : shortNetwork(row.network),
  }),
};

/** Details that support may not see: sums of money, whose names end in their unit, and invoice ids, which lead to sums. */
const ofMoney = /Cents$|^invoiceId$/;
/** The details that support may not see of single acts: a finding may be about an invoice or a charge, and only admins see settings. */
const ofAct: Readonly<Record<string, RegExp>> = {
  "finding.closed": /^subject$/,
  "finding.reopened": /^subject$/,
  "need.put_off": /^entry$/,
  "need.brought_back": /^entry$/,
  "setting.changed": /^(was|now)$/,
};

/** The table that support reads. */
export const auditTableWithoutMoney: typeof auditTable = {
  ...auditTable,
  show: (row) => {
    const shown = auditTable.show(row);
    const isHidden = (name: string) => ofMoney.test(name) || ofAct[row.action]?.test(name) === true;
    return { ...shown, details: Object.fromEntries(Object.entries(shown.details).filter(([name]) => !isHidden(name))) };
  },
};
