import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { askedEventStatuses, eventStatuses } from "../../domain/stripe-events.ts";
import { mostRows } from "../../domain/tables.ts";
import { NoContent, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { tablePage, tableQuery } from "../tables.ts";
import { RefusedMail } from "./needs.ts";
import { Reason } from "./team.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const LetterRow = Type.Object({
  id: Uuid,
  job: Type.String(),
  state: Type.Union([Type.Literal("waiting"), Type.Literal("replayed"), Type.Literal("discarded")]),
  failedAt: Timestamp,
  settledAt: orNull(Timestamp),
  attempts: Type.Integer(),
  error: Type.String(),
  payload: Type.Unknown(),
});
export type LetterRow = Static<typeof LetterRow>;
const LettersQuery = tableQuery(Type.Literal("time"), {
  job: Type.Optional(Type.String({ maxLength: 60 })),
  state: Type.Optional(LetterRow.properties.state),
});
export type LettersQuery = Static<typeof LettersQuery>;

export const RefusedMailRow = Type.Object({
  ...RefusedMail.properties,
  state: LetterRow.properties.state,
  settledAt: orNull(Timestamp),
});
export type RefusedMailRow = Static<typeof RefusedMailRow>;
const RefusedMailsQuery = tableQuery(Type.Literal("time"), { state: Type.Optional(LetterRow.properties.state) });
export type RefusedMailsQuery = Static<typeof RefusedMailsQuery>;

export const EventRow = Type.Object({
  id: Type.String(),
  type: Type.String(),
  status: Type.Enum([...eventStatuses]),
  objectId: orNull(Type.String()),
  receivedAt: Timestamp,
  processedAt: orNull(Timestamp),
  /** Why its job failed for good. */
  error: orNull(Type.String()),
});
export type EventRow = Static<typeof EventRow>;
const EventsQuery = tableQuery(Type.Literal("time"), {
  type: Type.Optional(Type.String({ maxLength: 100 })),
  status: Type.Optional(Type.Enum([...askedEventStatuses])),
  event: Type.Optional(Type.String({ maxLength: 100 })),
  /** The id of the object that the event is about. */
  object: Type.Optional(Type.String({ maxLength: 100 })),
  /** Finds the events of a customer, as far as their contents are still kept. */
  customer: Type.Optional(Type.String({ maxLength: 100 })),
});
export type EventsQuery = Static<typeof EventsQuery>;

/** What was done to an event or a failed job. `by`: null if they have left, or if the operator did it by a command. */
const WorkAct = Type.Object({
  at: Timestamp,
  act: Type.Union([Type.Literal("replayed"), Type.Literal("discarded")]),
  by: orNull(Type.String()),
  reason: orNull(Type.String()),
});
export type WorkAct = Static<typeof WorkAct>;

const csv = { 200: Type.Any({ description: "text/csv" }) };
const someIds = <Id extends TSchema>(id: Id) => Type.Array(id, { minItems: 1, maxItems: mostRows, uniqueItems: true });
const Events = Type.Object({ ids: someIds(Type.String({ maxLength: 100 })), reason: Reason }, { additionalProperties: false });
const Letters = Type.Object({ ids: someIds(Uuid), reason: Reason }, { additionalProperties: false });

const Outcome = Type.Union([
  Type.Literal("done"),
  Type.Literal("replayed"),
  Type.Literal("discarded"),
  Type.Literal("waiting"),
  Type.Literal("busy"),
  Type.Literal("settled"),
  Type.Literal("missing"),
]);
/** What happened to each, in the order asked for. All but those that are `done` were left as they were. */
const Results = Type.Object({ results: Type.Array(Type.Object({ id: Type.String(), outcome: Outcome })) });
export type Results = Static<typeof Results>;
const settled = { 200: Results };

/** For admins; others get `not_found`. Each act may answer `step_up_required`. */
export const adminWorkRoutes = {
  "GET /api/admin/dead-letters": {
    summary: "For admins: jobs that failed for good, the newest first",
    querystring: LettersQuery,
    response: { 200: tablePage(LetterRow) },
  },
  "GET /api/admin/dead-letters.csv": { summary: "For admins: the same as CSV", querystring: LettersQuery, response: csv },
  "GET /api/admin/dead-letters/:letterId": {
    summary: "For admins: what was done to a job that failed for good, the latest first",
    params: Type.Object({ letterId: Uuid }),
    response: { 200: Type.Object({ acts: Type.Array(WorkAct) }) },
  },
  "POST /api/admin/dead-letters/replay": {
    summary: "For admins: put jobs that failed for good back, several at once",
    body: Letters,
    response: settled,
  },
  "POST /api/admin/dead-letters/discard": {
    summary: "For admins: settle jobs that failed for good without doing them",
    body: Letters,
    response: settled,
  },
  "GET /api/admin/refused-mails": {
    summary: "For admins: mails that were not delivered, the newest first",
    querystring: RefusedMailsQuery,
    response: { 200: tablePage(RefusedMailRow) },
  },
  "GET /api/admin/refused-mails.csv": { summary: "For admins: the same as CSV", querystring: RefusedMailsQuery, response: csv },
  "POST /api/admin/refused-mails/again": {
    summary:
      "For admins: send a mail that was not delivered again, to its own address or to a right one. May answer `conflict` if it was dealt with or can't go there",
    body: Type.Object(
      { id: Uuid, recipient: Type.String({ minLength: 3, maxLength: 254 }), reason: Reason },
      { additionalProperties: false },
    ),
    response: { 204: NoContent },
  },
  "GET /api/admin/stripe-events": {
    summary: "For admins: the events that Stripe sent, the newest first",
    querystring: EventsQuery,
    response: { 200: tablePage(EventRow) },
  },
  "GET /api/admin/stripe-events.csv": { summary: "For admins: the same as CSV", querystring: EventsQuery, response: csv },
  "GET /api/admin/stripe-events/:eventId": {
    summary:
      "For admins: what an event of Stripe's contains, which is empty once it was deleted, and what the team did to it, the latest first",
    params: Type.Object({ eventId: Type.String({ maxLength: 100 }) }),
    response: { 200: Type.Object({ payload: Type.Unknown(), acts: Type.Array(WorkAct) }) },
  },
  "POST /api/admin/stripe-events/replay": {
    summary: "For admins: have events acted on again. Our state is read from Stripe, so that nothing counts twice",
    body: Events,
    response: settled,
  },
  "POST /api/admin/stripe-events/discard": {
    summary:
      "For admins: never act on events that were set aside or failed for good, until they are put back. What they stood for is still found by reconciliation",
    body: Events,
    response: settled,
  },
} as const satisfies Record<string, RouteContract>;
