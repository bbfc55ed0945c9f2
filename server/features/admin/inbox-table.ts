/** The panel's list of what people wrote. */
import { sql } from "kysely";
import { addMilliseconds } from "#domain/clock.ts";
import { answerDueMs } from "#domain/inbox.ts";
import type { InboxQuery } from "../../contract/admin/inbox.ts";
import { InboxRow } from "../../contract/admin/inbox.ts";
import type { Executor } from "../../db/transaction.ts";
import { beginning, foundAtMost } from "./people-table.ts";
import type { Table } from "./tables.ts";

interface Row {
  id: string;
  created_at: Date;
  category: InboxRow["category"];
  status: InboxRow["status"];
  name: string;
  email: string;
  subject: string | null;
  beginning: string;
  language: string;
  owner_id: string | null;
  owner: string | null;
  now: Date;
}

const shownCharacters = 160;

function dueOf({ status, created_at: since, now }: Row): Pick<InboxRow, "dueAt" | "isOverdue"> {
  if (status !== "open") return { dueAt: null, isOverdue: false };
  const due = addMilliseconds(since, answerDueMs);
  return { dueAt: due.toISOString(), isOverdue: due <= now };
}

/** The first by the alphabet, in the order of their index. */
const bySender = (sender: string, most: number) => sql`(select f.id from contact_messages f
  where lower(f.email) like ${beginning(sender.trim().toLowerCase())} order by lower(f.email) using ~<~ limit ${most})`;

/** Whether more messages are of such senders than are looked through. */
export async function isInboxCut(executor: Executor, { sender }: Pick<InboxQuery, "sender">): Promise<boolean> {
  if (sender === undefined) return false;
  const { rows } = await sql<{ found: number }>`select count(*) as found from ${bySender(sender, foundAtMost + 1)} f`.execute(executor);
  return (rows[0]?.found ?? 0) > foundAtMost;
}

/** `owner` is never `me` here: the routes know who that is. */
export const inboxTable: Table<Row, InboxRow, Omit<InboxQuery, "owner"> & { owner?: string }, "time"> = {
  columns: sql`m.id, m.created_at, m.category, m.status, m.name, m.email, m.subject, left(m.message, ${shownCharacters}) as beginning, m.language,
    m.owner_id, coalesce(owner.name, owner_identity.subject) as owner, business_now() as now`,
  from: sql`contact_messages m left join users owner on owner.id = m.owner_id
    left join identities owner_identity on owner_identity.user_id = m.owner_id and owner_identity.kind = 'email'`,
  sorts: {
    time: [
      { column: sql`m.created_at`, type: "timestamptz" },
      { column: sql`m.id`, type: "uuid" },
    ],
  },
  defaultSort: "time",
  conditionsOf: ({ category, status, owner, language, sender }) => [
    category === undefined ? undefined : sql<boolean>`m.category = ${category}`,
    status === undefined ? undefined : sql<boolean>`m.status = ${status}`,
    owner === undefined ? undefined : owner === "nobody" ? sql<boolean>`m.owner_id is null` : sql<boolean>`m.owner_id = ${owner}`,
    language === undefined ? undefined : sql<boolean>`m.language = ${language}`,
    sender === undefined ? undefined : sql<boolean>`m.id in ${bySender(sender, foundAtMost)}`,
  ],
  shown: InboxRow,
  show: (row) => ({
    id: row.id,
    createdAt: row.created_at.toISOString(),
    category: row.category,
    status: row.status,
    name: row.name,
    email: row.email,
    subject: row.subject,
    beginning: row.beginning,
    language: row.language,
    ownerId: row.owner_id,
    owner: row.owner,
    ...dueOf(row),
  }),
};
