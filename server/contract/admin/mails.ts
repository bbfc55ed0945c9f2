import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { NoContent, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { tablePage, tableQuery } from "../tables.ts";
import { MailState } from "./people.ts";
import { Reason } from "./team.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Day = Type.String({ format: "date" });

/** A mail to anybody. Nothing of what it says. */
export const SentMailRow = Type.Object({
  id: Uuid,
  createdAt: Timestamp,
  template: Type.String(),
  recipient: Type.String(),
  language: Type.String(),
  state: MailState,
  sentAt: orNull(Timestamp),
  /** Why it was given up. */
  error: orNull(Type.String()),
  userId: orNull(Uuid),
});
export type SentMailRow = Static<typeof SentMailRow>;

const SentMailsQuery = tableQuery(Type.Literal("time"), {
  /** The whole address. */
  recipient: Type.Optional(Type.String({ maxLength: 254 })),
  template: Type.Optional(Type.String({ maxLength: 60 })),
  state: Type.Optional(MailState),
  /** Days in UTC, both included. */
  from: Type.Optional(Day),
  to: Type.Optional(Day),
});
export type SentMailsQuery = Static<typeof SentMailsQuery>;

/** A job that is not done yet. */
export const WaitingJobRow = Type.Object({
  id: Uuid,
  job: Type.String(),
  writtenAt: Timestamp,
  /** When it is handed out again, if it is not done by then. */
  dueAt: Timestamp,
  /** How often it was handed out, and how often it has failed. */
  attempts: Type.Integer(),
  failures: Type.Integer(),
});
export type WaitingJobRow = Static<typeof WaitingJobRow>;
const WaitingJobsQuery = tableQuery(Type.Literal("due"), { job: Type.Optional(Type.String({ maxLength: 60 })) });
export type WaitingJobsQuery = Static<typeof WaitingJobsQuery>;

const csv = { 200: Type.Any({ description: "text/csv" }) };

/** `key`: the same again sends nothing. */
const MailPayLink = Type.Object({ reason: Reason, key: Type.String({ format: "uuid" }) }, { additionalProperties: false });
export type MailPayLink = Static<typeof MailPayLink>;

/** For admins; others get `not_found`. */
export const adminMailRoutes = {
  "GET /api/admin/mails": {
    summary: "For admins: all mails, the newest first, with what became of each",
    querystring: SentMailsQuery,
    response: { 200: tablePage(SentMailRow) },
  },
  "GET /api/admin/mails.csv": { summary: "For admins: the same as CSV", querystring: SentMailsQuery, response: csv },
  "POST /api/admin/people/:userId/invoices/:invoiceId/pay-link": {
    summary:
      "For admins: mail the person once more how to pay this invoice, once for a key. May answer `step_up_required`, `conflict` if it is not unpaid any more, `too_many_attempts`",
    params: Type.Object({ userId: Uuid, invoiceId: Type.String({ maxLength: 200 }) }),
    body: MailPayLink,
    response: { 204: NoContent },
  },
  "GET /api/admin/outbox": {
    summary: "For admins: jobs that are not done yet, the one that is due first",
    querystring: WaitingJobsQuery,
    response: { 200: tablePage(WaitingJobRow) },
  },
  "GET /api/admin/outbox.csv": { summary: "For admins: the same as CSV", querystring: WaitingJobsQuery, response: csv },
} as const satisfies Record<string, RouteContract>;
