import type { Static } from "typebox";
import { Type } from "typebox";
import type { RouteContract } from "./route.ts";

/** A kind of mails that a person may do without (domain/notifications.ts). */
const Kind = Type.String({ maxLength: 50 });

export const MailChoices = Type.Object({
  mails: Type.Array(Type.Object({ kind: Kind, wanted: Type.Boolean() })),
});
export type MailChoices = Static<typeof MailChoices>;

export const notificationRoutes = {
  "GET /api/account/notifications": {
    summary: "Which optional mails the person wants. Mails about security and payments are not among them: they are always sent",
    response: { 200: MailChoices },
  },
  "PATCH /api/account/notifications": {
    summary: "Switch a kind of optional mails on or off",
    body: Type.Object({ kind: Kind, wanted: Type.Boolean() }, { additionalProperties: false }),
    response: { 200: MailChoices },
  },
  "POST /api/notifications/unsubscribe": {
    summary: "Switch a kind of mails off with the token of such a mail (RFC 8058). Needs no sign-in; the body is not read",
    querystring: Type.Object({ token: Type.String({ maxLength: 200 }) }),
    response: { 200: Type.Object({ kind: Kind }) },
  },
} as const satisfies Record<string, RouteContract>;
