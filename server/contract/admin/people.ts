import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { adjustments } from "../../domain/adjustments.ts";
import { filterReasons } from "../../domain/filter-reasons.ts";
import { mostRows } from "../../domain/tables.ts";
import { AddedWay } from "../auth/disown.ts";
import { OwnSession } from "../auth/security.ts";
import { PaymentCheck } from "../billing/doctor.ts";
import { Invoice } from "../billing/invoices.ts";
import { SubscriptionCheck } from "../billing/subscription.ts";
import { AwaitedTransfer } from "../billing/transfers.ts";
import { Credits, NoContent, Timestamp, Uuid } from "../common.ts";
import { Explanation, LedgerFilter, LedgerPage } from "../credits/ledger.ts";
import { Wallet } from "../credits/wallet.ts";
import type { RouteContract } from "../route.ts";
import { ReadAnswer, SupportAccess } from "../support-access.ts";
import { searchedPage, tablePage, tableQuery } from "../tables.ts";
import { OwnDispute } from "./needs.ts";
import { Reason, TeamRole } from "./team.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Person = Type.Object({ userId: Uuid });
const Role = Type.Union([Type.Literal("user"), TeamRole]);

export const PersonRow = Type.Object({
  id: Uuid,
  email: Type.String(),
  name: orNull(Type.String()),
  role: Role,
  createdAt: Timestamp,
  lastSignInAt: orNull(Timestamp),
  /** The last plan, also one that is over. */
  plan: orNull(Type.String()),
  planStatus: orNull(Type.String()),
  credits: Type.Integer(),
  bannedAt: orNull(Timestamp),
  /** When the account will be erased; null: its owner has not deleted it. */
  deleteAt: orNull(Timestamp),
});
export type PersonRow = Static<typeof PersonRow>;

export const PeopleQuery = tableQuery(Type.Union([Type.Literal("joined"), Type.Literal("email")]), {
  /** The beginning of an address or name, a whole id (the person's, their billing account's or one of Stripe's), or an invoice's number. */
  search: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
  state: Type.Optional(Type.Union([Type.Literal("banned"), Type.Literal("deleting")])),
});
export type PeopleQuery = Static<typeof PeopleQuery>;

/** One person as the team sees them. Nothing that they or a model wrote: that is a call of its own, which needs their consent. */
export const PersonPage = Type.Object({
  person: PersonRow,
  language: Type.String(),
  waysIn: Type.Object({
    password: Type.Boolean(),
    google: orNull(Type.String()),
    passkeys: Type.Integer(),
    totp: Type.Boolean(),
    recoveryCodes: Type.Integer(),
  }),
  /** What giving the account back would remove, oldest first, and the earlier address that it would put back. */
  takenOver: Type.Object({ ways: Type.Array(AddedWay), earlierEmail: orNull(Type.String()) }),
  sessions: Type.Array(OwnSession),
  subscription: SubscriptionCheck,
  wallet: Wallet,
  /** Whether the team may read their conversations now, or has asked to. */
  supportAccess: SupportAccess,
  /** Null for support. */
  money: orNull(
    Type.Object({
      billingAccountId: orNull(Type.String()),
      customerId: orNull(Type.String()),
      subscriptionId: orNull(Type.String()),
      /** The address of Stripe's dashboard, with a slash at its end; null: there is none, as in the sandbox. */
      dashboardUrl: orNull(Type.String()),
      /** The latest. */
      invoices: Type.Array(Invoice),
      disputes: Type.Array(OwnDispute),
      /** What the person is to pay by bank transfer. */
      transfers: Type.Array(AwaitedTransfer),
      /** How many credits the caller may still give today. */
      leftToGive: Credits,
    }),
  ),
});
export type PersonPage = Static<typeof PersonPage>;

export const AnswerRow = Type.Object({
  id: Uuid,
  askedAt: Timestamp,
  model: Type.String(),
  status: Type.String(),
  failure: orNull(Type.String()),
  /** What the provider's filter stopped. */
  filterReason: orNull(Type.Enum([...filterReasons])),
  quotedCredits: Credits,
  chargedCredits: orNull(Credits),
  searches: orNull(Type.Integer()),
  thinkingTokens: orNull(Type.Integer()),
  endedAt: orNull(Timestamp),
});
export type AnswerRow = Static<typeof AnswerRow>;
export const AnswersQuery = tableQuery(Type.Literal("time"), {
  status: Type.Optional(
    Type.Union([Type.Literal("streaming"), Type.Literal("completed"), Type.Literal("stopped"), Type.Literal("failed")]),
  ),
  filterReason: Type.Optional(Type.Enum([...filterReasons])),
});
export type AnswersQuery = Static<typeof AnswersQuery>;

/** `refused`: it was given up, and waits for somebody of the team. `discarded`: somebody of the team has settled it without sending it. */
export const MailState = Type.Enum(["waiting", "sent", "refused", "discarded"]);
export type MailState = Static<typeof MailState>;

export const MailRow = Type.Object({
  id: Uuid,
  createdAt: Timestamp,
  template: Type.String(),
  language: Type.String(),
  state: MailState,
  sentAt: orNull(Timestamp),
  /** The mail's content is still kept, and still true. */
  canResend: Type.Boolean(),
});
export type MailRow = Static<typeof MailRow>;
export const MailsQuery = tableQuery(Type.Literal("time"), { template: Type.Optional(Type.String({ maxLength: 60 })) });
export type MailsQuery = Static<typeof MailsQuery>;

const Key = Type.String({ format: "uuid" });
const act = { body: Type.Object({ reason: Reason }, { additionalProperties: false }), params: Person, response: { 204: NoContent } };
const Amount = Type.Integer({ minimum: 1, maximum: adjustments.mostAtOnce });
/** A refund of a payment by card. Money in cents. */
export const RefundPayment = Type.Object(
  {
    invoiceId: Type.String({ maxLength: 100 }),
    amountCents: Type.Integer({ minimum: 1, maximum: 100_000_000 }),
    /** What of the payment had gone back when the caller looked. */
    refundedCents: Type.Integer({ minimum: 0 }),
    reason: Reason,
    key: Key,
  },
  { additionalProperties: false },
);
export type RefundPayment = Static<typeof RefundPayment>;

const LedgerQuery = Type.Object(
  {
    ...LedgerFilter.properties,
    cursor: Type.Optional(Type.String({ maxLength: 200 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostRows })),
  },
  { additionalProperties: false },
);
export type LedgerQuery = Static<typeof LedgerQuery>;

const csv = { 200: Type.Any({ description: "text/csv" }) };

/** For the team; those with money, and all acts, for admins. Each act may answer `step_up_required`. */
export const adminPeopleRoutes = {
  "GET /api/admin/people": {
    summary: "For the team: people, found by address, name or id",
    querystring: PeopleQuery,
    response: { 200: searchedPage(PersonRow) },
  },
  "GET /api/admin/people.csv": { summary: "For the team: the same as CSV", querystring: PeopleQuery, response: csv },
  "GET /api/admin/people/:userId": { summary: "For the team: one person", params: Person, response: { 200: PersonPage } },
  "GET /api/admin/people/:userId/ledger": {
    summary: "For the team: the person's ledger, newest first, without conversations",
    params: Person,
    querystring: LedgerQuery,
    response: { 200: LedgerPage },
  },
  "GET /api/admin/people/:userId/ledger.csv": {
    summary: "For the team: the same as CSV",
    params: Person,
    querystring: LedgerQuery,
    response: csv,
  },
  "GET /api/admin/people/:userId/explanation": {
    summary: "For the team: how the person's balance came about",
    params: Person,
    response: { 200: Explanation },
  },
  "GET /api/admin/people/:userId/answers": {
    summary: "For the team: the person's answers by model, price and time, never their text",
    params: Person,
    querystring: AnswersQuery,
    response: { 200: tablePage(AnswerRow) },
  },
  "GET /api/admin/people/:userId/answers.csv": {
    summary: "For the team: the same as CSV",
    params: Person,
    querystring: AnswersQuery,
    response: csv,
  },
  "POST /api/admin/people/:userId/support-access": {
    summary:
      "For the team: ask the person to let the team read their conversations, at most once a day. May answer `conflict` if they do, or can't sign in, and `rate_limited`",
    ...act,
  },
  "POST /api/admin/people/:userId/answers/:answerId/read": {
    summary:
      "For the team: read an answer and what led to it, while the person allows it. They see that it was read. May answer `support_access_needed`, `answer_gone` if they deleted it, `too_many_attempts`",
    ...act,
    params: Type.Object({ userId: Uuid, answerId: Uuid }),
    response: { 200: ReadAnswer },
  },
  "GET /api/admin/people/:userId/mails": {
    summary: "For the team: which mails were sent to the person, and when",
    params: Person,
    querystring: MailsQuery,
    response: { 200: tablePage(MailRow) },
  },
  "GET /api/admin/people/:userId/mails.csv": {
    summary: "For the team: the same as CSV",
    params: Person,
    querystring: MailsQuery,
    response: csv,
  },
  "POST /api/admin/people/:userId/credits": {
    summary: "For admins: give credits. May answer `adjustment_limit`; the same key again changes nothing",
    params: Person,
    body: Type.Object(
      { credits: Amount, days: Type.Union([Type.Literal(30), Type.Literal(90), Type.Literal(365)]), reason: Reason, key: Key },
      { additionalProperties: false },
    ),
    response: { 204: NoContent },
  },
  "POST /api/admin/people/:userId/credits/take": {
    summary:
      "For admins: take unspent credits of an adjustment back. May answer `insufficient_credits`; the same key again changes nothing",
    params: Person,
    body: Type.Object({ grantId: Uuid, credits: Amount, reason: Reason, key: Key }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
  "POST /api/admin/people/:userId/ban": {
    summary: "For admins: sign the person out and refuse them the sign-in. May answer `own_account`, `last_admin`",
    ...act,
  },
  "POST /api/admin/people/:userId/unban": { summary: "For admins: allow the person to sign in again", ...act },
  "POST /api/admin/people/:userId/sign-out": { summary: "For admins: end all of the person's sign-ins", ...act },
  "POST /api/admin/people/:userId/give-back": {
    summary:
      "For admins: give an account that was taken over back to its owner: end password, sign-ins and the ways in added since a day, and mail a link for a new password. May answer `own_account`, `conflict` if the person is banned, `too_many_attempts`",
    ...act,
    body: Type.Object({ reason: Reason, since: orNull(Type.String({ format: "date" })) }, { additionalProperties: false }),
  },
  "POST /api/admin/people/:userId/cancel": {
    summary:
      "For admins: end the person's plan with its period. May answer `no_running_plan`, `plan_unpaid`, `payment_provider_unavailable`",
    ...act,
  },
  "POST /api/admin/people/:userId/resume": {
    summary: "For admins: take the end of the plan back. May answer as cancelling does",
    ...act,
  },
  "POST /api/admin/people/:userId/refunds": {
    summary:
      "For admins: refund a payment by card, or part of it, once for a key. May answer `preview_outdated`, `nothing_to_refund`, `refund_refused`, `conflict`, `payment_provider_unavailable`",
    ...act,
    body: RefundPayment,
  },
  "POST /api/admin/people/:userId/export": {
    summary:
      "For admins: have an export of the person's data made, of which they alone get the mail and the file. May answer `conflict` if they can't sign in, `rate_limited`",
    ...act,
  },
  "POST /api/admin/people/:userId/mails/:mailId/again": {
    summary:
      "For admins: send a receipt or contract again, to the person's address, once for a key. May answer `conflict` if it can't be any more, `too_many_attempts`",
    ...act,
    params: Type.Object({ userId: Uuid, mailId: Uuid }),
    body: Type.Object({ reason: Reason, key: Key }, { additionalProperties: false }),
  },
  "POST /api/admin/sign-ups/again": {
    summary:
      "For admins: mail the link of a waiting sign-up again. May answer `not_found` if none waits for this address, `too_many_attempts`",
    body: Type.Object({ email: Type.String({ minLength: 3, maxLength: 254 }), reason: Reason }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
  "POST /api/admin/people/:userId/check-payments": {
    summary: "For admins: compare the person's payments with the payment provider's, and repair what is wrong. May answer `rate_limited`",
    ...act,
    response: { 200: PaymentCheck },
  },
} as const satisfies Record<string, RouteContract>;
