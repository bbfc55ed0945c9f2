import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { contactCategories } from "../../domain/contact.ts";
import { answerLimits, answerTemplates, inboxStatuses } from "../../domain/inbox.ts";
import { Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { searchedPage, tableQuery } from "../tables.ts";
import { Reason } from "./team.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Status = Type.Enum([...inboxStatuses]);
const Category = Type.Enum([...contactCategories]);
/** A member of the team, by name or, without one, by address. */
const Colleague = Type.Object({ id: Uuid, name: Type.String() });

export const InboxRow = Type.Object({
  id: Uuid,
  createdAt: Timestamp,
  category: Category,
  status: Status,
  name: Type.String(),
  email: Type.String(),
  subject: orNull(Type.String()),
  /** How the message begins. */
  beginning: Type.String(),
  language: Type.String(),
  ownerId: orNull(Uuid),
  owner: orNull(Type.String()),
  /** By when somebody should answer; null: somebody has. */
  dueAt: orNull(Timestamp),
  isOverdue: Type.Boolean(),
});
export type InboxRow = Static<typeof InboxRow>;

const InboxQuery = tableQuery(Type.Literal("time"), {
  category: Type.Optional(Category),
  status: Type.Optional(Status),
  /** `me`: the caller. */
  owner: Type.Optional(Type.Union([Uuid, Type.Literal("nobody"), Type.Literal("me")])),
  language: Type.Optional(Type.String({ maxLength: 10 })),
  /** The beginning of the sender's address. */
  sender: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
});
export type InboxQuery = Static<typeof InboxQuery>;

/** `waiting`: the worker will send it, or try again. `refused`: given up because of `error`. `unknown`: the mail's row has gone. */
const Delivery = Type.Object({
  state: Type.Enum(["waiting", "sent", "refused", "unknown"]),
  at: orNull(Timestamp),
  error: orNull(Type.String()),
});

export const InboxEvent = Type.Object({
  id: Uuid,
  at: Timestamp,
  kind: Type.Enum(["answered", "status", "owner"]),
  /** Null: they have deleted their account. */
  by: orNull(Type.String()),
  status: orNull(Status),
  /** Only an event of the kind `owner` has it; null: nobody. */
  owner: orNull(Type.String()),
  /** Why the status was set; null: it was set before reasons were asked for, or the event is of another kind. */
  reason: orNull(Type.String()),
  answer: orNull(Type.Object({ subject: Type.String(), text: Type.String(), delivery: Delivery })),
});
export type InboxEvent = Static<typeof InboxEvent>;

export const InboxPage = Type.Object({
  id: Uuid,
  /** Each act names the version that its caller saw. So of two acts at the same time the second is refused. */
  version: Type.Integer(),
  reference: Type.String(),
  createdAt: Timestamp,
  category: Category,
  status: Status,
  owner: orNull(Colleague),
  name: Type.String(),
  email: Type.String(),
  subject: orNull(Type.String()),
  message: Type.String(),
  language: Type.String(),
  /** `signedIn`: they wrote it while signed in. Otherwise it is the account with the address that was typed, which proves nothing. */
  account: orNull(Type.Object({ userId: Uuid, email: Type.String(), signedIn: Type.Boolean() })),
  /** The oldest first. */
  history: Type.Array(InboxEvent),
  /** Texts with which an answer may begin, in the sender's language. */
  suggested: Type.Object({
    subject: Type.String(),
    templates: Type.Array(Type.Object({ name: Type.Enum([...answerTemplates]), text: Type.String() })),
  }),
});
export type InboxPage = Static<typeof InboxPage>;

const Neighbour = Type.Object({ id: Uuid, title: Type.String() });

/** The messages above and below one in the list; null at its ends. */
const InboxNeighbours = Type.Object({ previous: orNull(Neighbour), next: orNull(Neighbour) });
export type InboxNeighbours = Static<typeof InboxNeighbours>;

const Message = Type.Object({ messageId: Uuid });
const version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const closed = { additionalProperties: false };
const csv = { 200: Type.Any({ description: "text/csv" }) };
const changed = { params: Message, response: { 200: InboxPage } };

/** For the team; others get `not_found`. Each act has a reason, and returns the message as it is then, or `conflict` if it is outdated. */
export const adminInboxRoutes = {
  "GET /api/admin/inbox": {
    summary: "For the team: what people wrote, the newest first",
    querystring: InboxQuery,
    response: { 200: searchedPage(InboxRow) },
  },
  "GET /api/admin/inbox.csv": { summary: "For the team: the same as CSV", querystring: InboxQuery, response: csv },
  "GET /api/admin/inbox/:messageId": {
    summary: "For the team: one message with its history",
    params: Message,
    response: { 200: InboxPage },
  },
  "GET /api/admin/inbox/:messageId/neighbours": {
    summary:
      "For the team: the messages above and below one in the list with these filters and this order, also if it does not match them any more",
    params: Message,
    querystring: InboxQuery,
    response: { 200: InboxNeighbours },
  },
  "PUT /api/admin/inbox/:messageId/status": {
    summary: "For the team: say what is to be done with a message. May answer `conflict`",
    ...changed,
    body: Type.Object({ version, status: Status, reason: Reason }, closed),
  },
  "PUT /api/admin/inbox/:messageId/owner": {
    summary: "For the team: give a message to somebody of the team, or to nobody. May answer `conflict`",
    ...changed,
    body: Type.Object({ version, ownerId: orNull(Uuid), reason: Reason }, closed),
  },
  "POST /api/admin/inbox/:messageId/answers": {
    summary: "For the team: answer a message by mail. The same key again mails nothing. May answer `conflict`, `too_many_attempts`",
    ...changed,
    body: Type.Object(
      {
        version,
        key: Uuid,
        subject: Type.String({ maxLength: 4 * answerLimits.subjectMax }),
        text: Type.String({ maxLength: 4 * answerLimits.textMax }),
        status: Type.Enum(["waiting", "done"]),
        reason: Reason,
      },
      closed,
    ),
  },
} as const satisfies Record<string, RouteContract>;
export type NewAnswer = Static<(typeof adminInboxRoutes)["POST /api/admin/inbox/:messageId/answers"]["body"]>;
