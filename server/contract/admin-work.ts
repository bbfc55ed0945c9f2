import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { askedEventStatuses, eventStatuses } from "../domain/stripe-events.ts";
import { mostRows } from "../domain/tables.ts";
import { Reason } from "./admin.ts";
import { Cents, Credits, NoContent, Timestamp, Uuid } from "./common.ts";
import type { RouteContract } from "./route.ts";
import { tablePage, tableQuery } from "./tables.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
/** The person it is about, if one person pays. */
const person = { userId: orNull(Uuid), email: orNull(Type.String()) };

/** The oldest first; `isMore`: not all of them are here. */
const someOf = <Row extends TSchema>(row: Row) => Type.Object({ rows: Type.Array(row), isMore: Type.Boolean() });

export const OpenFinding = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  subject: Type.String(),
  firstSeenAt: Timestamp,
  timesSeen: Type.Integer(),
  ...person,
});
export const FailedPayment = Type.Object({
  id: Type.String(),
  unpaidCents: Cents,
  needsAction: Type.Boolean(),
  issuedAt: Timestamp,
  /** The person can be mailed the link to pay it. */
  canMail: Type.Boolean(),
  /** Null: there is no dashboard, as in the sandbox. */
  dashboardUrl: orNull(Type.String()),
  ...person,
});
const dispute = {
  /** The charge's. */
  id: Type.String(),
  paidCents: Cents,
  since: Timestamp,
  /** Until when Stripe takes evidence; null: it takes none. */
  dueAt: orNull(Timestamp),
  /** Where Stripe takes it; null: there is no dashboard, as in the sandbox. */
  dashboardUrl: orNull(Type.String()),
};
/** A dispute of one person, on their page. */
export const OwnDispute = Type.Object(dispute);
export type OwnDispute = Static<typeof OwnDispute>;
export const OpenDispute = Type.Object({ ...dispute, ...person });
export type OpenDispute = Static<typeof OpenDispute>;
export const StuckHold = Type.Object({ id: Uuid, credits: Credits, deadline: Timestamp, ...person });
/** A mail that was given up. `id`: of its job, by which it is sent again. */
export const RefusedMail = Type.Object({
  id: Uuid,
  template: Type.String(),
  recipient: Type.String(),
  error: Type.String(),
  failedAt: Timestamp,
  ...person,
  /** Whether it may go to any other address, only to that of the account, or to none. */
  elsewhere: orNull(Type.Union([Type.Literal("any"), Type.Literal("account")])),
});
export type RefusedMail = Static<typeof RefusedMail>;
export const WaitingLetter = Type.Object({ id: Uuid, job: Type.String(), error: Type.String(), failedAt: Timestamp });

/** `topic`: the message's subject or, without one, its sender's name. `userId`: of a sender who was signed in. */
export const UnansweredMessage = Type.Object({
  id: Uuid,
  topic: Type.String(),
  since: Timestamp,
  userId: orNull(Uuid),
  email: Type.String(),
});

/**
 * Money of a bank transfer that the team has to move. `return`: it has to be transferred back by `dueAt`. `claim`: we lost it twice, so the team asks
 * the person for it.
 */
export const WaitingTransfer = Type.Object({
  id: Uuid,
  side: Type.Union([Type.Literal("return"), Type.Literal("claim")]),
  invoiceId: Type.String(),
  /** The bank's reference of the person's transfer. */
  reference: Type.String(),
  amountCents: Cents,
  currency: Type.String(),
  since: Timestamp,
  dueAt: orNull(Timestamp),
  ...person,
});
export type WaitingTransfer = Static<typeof WaitingTransfer>;

/**
 * A model that people can't rely on. `paused`: this process does not ask it, because it failed again and again; `failing`: half of its answers of
 * the last hour failed; `ending`: it leaves within days.
 */
export const AilingModel = Type.Object({
  id: Type.String(),
  name: Type.String(),
  why: Type.Union([Type.Literal("paused"), Type.Literal("failing"), Type.Literal("ending")]),
  /** Within the last hour. */
  answers: Type.Integer(),
  failed: Type.Integer(),
  until: orNull(Type.String({ format: "date" })),
});
export type AilingModel = Static<typeof AilingModel>;

/** What waits for a team member. */
export const Needs = Type.Object({
  findings: someOf(OpenFinding),
  deadLetters: someOf(WaitingLetter),
  failedPayments: someOf(FailedPayment),
  disputes: someOf(OpenDispute),
  holds: someOf(StuckHold),
  unanswered: someOf(UnansweredMessage),
  refusedMails: someOf(RefusedMail),
  transfers: someOf(WaitingTransfer),
  models: someOf(AilingModel),
  /** When the check of every account that is under way was asked for. */
  checkingSince: orNull(Timestamp),
});
export type Needs = Static<typeof Needs>;

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

/** What a team member did to an event. `by`: null if they have left. */
const EventAct = Type.Object({
  at: Timestamp,
  act: Type.Union([Type.Literal("replayed"), Type.Literal("discarded")]),
  by: orNull(Type.String()),
  reason: orNull(Type.String()),
});
export type EventAct = Static<typeof EventAct>;

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
  "GET /api/admin/needs": { summary: "For admins: what waits for somebody of the team", response: { 200: Needs } },
  "POST /api/admin/findings/close": {
    summary:
      "For admins: a finding is dealt with, and stays closed while the checks find the same. May answer `finding_closed`, with who and when",
    body: Type.Object({ findingId: Uuid, reason: Reason }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
  "POST /api/admin/findings/check-all": {
    summary: "For admins: compare every account with the payment provider, in the background. If that is under way, nothing more happens",
    body: Type.Object({ reason: Reason }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
  "POST /api/admin/holds/release": {
    summary: "For admins: release the holds that are long past their deadline",
    body: Type.Object({ reason: Reason }, { additionalProperties: false }),
    response: { 200: Type.Object({ count: Type.Integer() }) },
  },
  "GET /api/admin/dead-letters": {
    summary: "For admins: jobs that failed for good, the newest first",
    querystring: LettersQuery,
    response: { 200: tablePage(LetterRow) },
  },
  "GET /api/admin/dead-letters.csv": { summary: "For admins: the same as CSV", querystring: LettersQuery, response: csv },
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
    response: { 200: Type.Object({ payload: Type.Unknown(), acts: Type.Array(EventAct) }) },
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
