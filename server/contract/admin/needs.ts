import type { Static, TObject, TProperties, TSchema } from "typebox";
import { Type } from "typebox";
import { needKinds } from "../../domain/needs.ts";
import { Cents, Credits, NoContent, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { Reason } from "./team.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
/** The person it is about, if one person pays. */
const person = { userId: orNull(Uuid), email: orNull(Type.String()) };

/** What every entry has. */
const waits = {
  /** Identifies the entry in its list. If what has to be done changes, the entry gets another name, and is no longer put off. */
  entry: Type.String(),
  /** By when it has to be done; null: there is no deadline. */
  dueBy: orNull(Timestamp),
};
/** The oldest first; `isMore`: not all of them are here. */
const someOf = <Properties extends TProperties>(row: TObject<Properties>) =>
  Type.Object({ rows: Type.Array(Type.Object({ ...row.properties, ...waits })), isMore: Type.Boolean() });

const OpenFinding = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  subject: Type.String(),
  firstSeenAt: Timestamp,
  timesSeen: Type.Integer(),
  ...person,
});
/** What somebody of the team has closed. It stays closed while the checks find the same. */
const ClosedFindings = Type.Object({
  rows: Type.Array(
    Type.Object({
      id: Uuid,
      kind: Type.String(),
      subject: Type.String(),
      closedAt: Timestamp,
      /** Null: they have left, or an operator did it by a command. */
      by: orNull(Type.String()),
      reason: orNull(Type.String()),
      ...person,
    }),
  ),
  isMore: Type.Boolean(),
});
export type ClosedFindings = Static<typeof ClosedFindings>;
const FailedPayment = Type.Object({
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
const StuckHold = Type.Object({ id: Uuid, credits: Credits, deadline: Timestamp, ...person });
/** A mail that was given up. `id`: of its job, by which it is sent again. */
export const RefusedMail = Type.Object({
  id: Uuid,
  template: Type.String(),
  recipient: Type.String(),
  error: Type.String(),
  failedAt: Timestamp,
  ...person,
  /** Which other address it may go to: any, only that of the account, or none (null). */
  elsewhere: orNull(Type.Union([Type.Literal("any"), Type.Literal("account")])),
});
export type RefusedMail = Static<typeof RefusedMail>;
const WaitingLetter = Type.Object({ id: Uuid, job: Type.String(), error: Type.String(), failedAt: Timestamp });

/** `topic`: the message's subject or, without one, its sender's name. `userId`: of a sender who was signed in. */
const UnansweredMessage = Type.Object({
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

/** Something that was put off. */
export const PutOffNeed = Type.Object({
  kind: Type.Enum([...needKinds]),
  entry: waits.entry,
  /** It is shown again from that day in UTC on. */
  until: Type.String({ format: "date" }),
  /** Null: they have left. */
  by: orNull(Type.String()),
  reason: Type.String(),
});
export type PutOffNeed = Static<typeof PutOffNeed>;

/** What waits for a team member, or what of it was put off. */
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
  /** What was put off until a day, for the whole team. Some of it may be settled by now. */
  putOff: Type.Array(PutOffNeed),
  /** When the check of every account that is under way was asked for. */
  checkingSince: orNull(Timestamp),
});
export type Needs = Static<typeof Needs>;

const entry = { kind: PutOffNeed.properties.kind, entry: Type.String({ minLength: 1, maxLength: 200 }) };

/** For admins; others get `not_found`. Each act may answer `step_up_required`. */
export const adminNeedsRoutes = {
  "GET /api/admin/needs": {
    summary: "For admins: what waits for somebody of the team or, with `putOff`, what of it was put off until a day",
    querystring: Type.Object({ putOff: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    response: { 200: Needs },
  },
  "POST /api/admin/needs/put-off": {
    summary:
      "For admins: an entry of what waits is shown again from a day in UTC on. May answer `validation_failed` if that is too late for it, and `conflict` if it does not wait any more or too much is put off",
    body: Type.Object({ ...entry, until: PutOffNeed.properties.until, reason: Reason }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
  "POST /api/admin/needs/bring-back": {
    summary: "For admins: an entry that was put off waits again. May answer `conflict` if it is not put off any more",
    body: Type.Object({ ...entry, reason: Reason }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
  "POST /api/admin/findings/close": {
    summary:
      "For admins: a finding is dealt with, and stays closed while the checks find the same. May answer `finding_closed`, with who and when",
    body: Type.Object({ findingId: Uuid, reason: Reason }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
  "GET /api/admin/findings/closed": {
    summary: "For admins: findings that somebody of the team has closed, the latest first",
    response: { 200: ClosedFindings },
  },
  "POST /api/admin/findings/reopen": {
    summary: "For admins: a finding that somebody of the team has closed waits again. May answer `conflict` if it is not closed any more",
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
} as const satisfies Record<string, RouteContract>;
