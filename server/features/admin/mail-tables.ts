/** The panel's lists of all mails, and of jobs that are not done yet. */
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { SentMailsQuery, WaitingJobsQuery } from "../../contract/admin/mails.ts";
import { SentMailRow, WaitingJobRow } from "../../contract/admin/mails.ts";
import type { MailState } from "../../contract/admin/people.ts";
import type { Table } from "./tables.ts";
import { byTime } from "./tables.ts";

/** The latest letter of a mail `m` that is not sent. */
export const letterOfMail = sql`left join lateral (select d.error, d.replayed_at, d.discarded from dead_letters d
    where m.sent_at is null and d.mail_id = m.id
    order by d.failed_at desc limit 1) letter on true`;

/** What became of the mail. */
export const mailState = sql<MailState>`case when m.sent_at is not null then 'sent'
    when letter.discarded then 'discarded'
    when letter.error is not null and letter.replayed_at is null then 'refused'
    else 'waiting' end`;

interface Mail {
  id: string;
  created_at: Date;
  template: string;
  recipient: string;
  language: string;
  state: MailState;
  sent_at: Date | null;
  error: string | null;
  user_id: string | null;
}

const dayAfter = (day: string) => addMilliseconds(new Date(day), dayMs);

export const sentMailsTable: Table<Mail, SentMailRow, SentMailsQuery, "time"> = {
  columns: sql`m.id, m.created_at, m.template, m.recipient, m.language, ${mailState} as state, m.sent_at,
    case when letter.replayed_at is null or letter.discarded then letter.error end as error, m.user_id`,
  from: sql`mails m ${letterOfMail}`,
  ...byTime(sql`m.created_at`, sql`m.id`),
  conditionsOf: ({ recipient, template, state, from, to }) => [
    recipient === undefined ? undefined : sql<boolean>`lower(m.recipient) = ${recipient.trim().toLowerCase()}`,
    template === undefined ? undefined : sql<boolean>`m.template = ${template}`,
    // The partial index has the same condition, so PostgreSQL uses the index.
    state === undefined ? undefined : state === "sent" ? sql<boolean>`m.sent_at is not null` : sql<boolean>`m.sent_at is null`,
    state === undefined || state === "sent" ? undefined : sql<boolean>`${mailState} = ${state}`,
    from === undefined ? undefined : sql<boolean>`m.created_at >= ${new Date(from)}`,
    to === undefined ? undefined : sql<boolean>`m.created_at < ${dayAfter(to)}`,
  ],
  shown: SentMailRow,
  show: (row) => ({
    id: row.id,
    createdAt: row.created_at.toISOString(),
    template: row.template,
    recipient: row.recipient,
    language: row.language,
    state: row.state,
    sentAt: row.sent_at?.toISOString() ?? null,
    error: row.error,
    userId: row.user_id,
  }),
};

interface WaitingJob {
  id: string;
  job: string;
  created_at: Date;
  redrive_at: Date;
  publications: number;
  failures: number;
}

export const waitingJobsTable: Table<WaitingJob, WaitingJobRow, WaitingJobsQuery, "due"> = {
  columns: sql`o.id, o.job, o.created_at, o.redrive_at, o.publications, o.failures`,
  from: sql`outbox o`,
  sorts: {
    due: [
      { column: sql`o.redrive_at`, type: "timestamptz" },
      { column: sql`o.id`, type: "uuid" },
    ],
  },
  defaultSort: "due",
  defaultOrder: "asc",
  conditionsOf: ({ job }) => [job === undefined ? undefined : sql<boolean>`o.job = ${job}`],
  shown: WaitingJobRow,
  show: (row) => ({
    id: row.id,
    job: row.job,
    writtenAt: row.created_at.toISOString(),
    dueAt: row.redrive_at.toISOString(),
    attempts: row.publications,
    failures: row.failures,
  }),
};
