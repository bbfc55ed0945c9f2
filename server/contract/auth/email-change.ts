import type { Static } from "typebox";
import { Type } from "typebox";
import { NoContent } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { Accepted } from "./sign-in.ts";

const LinkToken = Type.String({ maxLength: 200 });
const Email = Type.Object({ email: Type.String() });

/**
 * `here`: one click changes the address. `password`: the account's password has to come with it. `elsewhere`: the account has no
 * password, so the link works only in the browser that asked for it.
 */
export const EmailChangeLink = Type.Object({
  email: Type.String(),
  state: Type.Union([Type.Literal("here"), Type.Literal("password"), Type.Literal("elsewhere")]),
});
export type EmailChangeLink = Static<typeof EmailChangeLink>;

export const emailChangeRoutes = {
  "POST /api/account/email": {
    summary: "Ask for another address: a link is mailed to it. Free and taken addresses are answered alike; the rest is said in the mail",
    body: Type.Object({ email: Type.String({ maxLength: 2_000 }) }, { additionalProperties: false }),
    response: { 202: Accepted },
  },
  "POST /api/account/email/resend": {
    summary: "Mail a new link to the address that waits for its confirmation",
    response: { 202: Accepted },
  },
  "DELETE /api/account/email": {
    summary: "Keep the present address: the link to the new one stops working",
    response: { 204: NoContent },
  },
  "POST /api/auth/email-change-link": {
    summary: "Look at a link mailed to a new address without using it: which address, and whether using it here asks for the password",
    body: Type.Object({ token: LinkToken }, { additionalProperties: false }),
    response: { 200: EmailChangeLink },
  },
  "POST /api/auth/confirm-email-change": {
    summary: "Make the new address the account's: in the browser that asked for it by the link alone, elsewhere with the password as well",
    body: Type.Object({ token: LinkToken, password: Type.Optional(Type.String({ maxLength: 2_000 })) }, { additionalProperties: false }),
    response: { 200: Email },
  },
  "POST /api/auth/undo-link": {
    summary: "Look at a link that reverses a change of address without using it: which address it gives back",
    body: Type.Object({ token: LinkToken }, { additionalProperties: false }),
    response: { 200: Email },
  },
  "POST /api/auth/undo-email-change": {
    summary: "Give the account its earlier address back. Ends all sign-ins; `token` is of a link with which a new password is chosen",
    body: Type.Object({ token: LinkToken }, { additionalProperties: false }),
    response: { 200: Type.Object({ email: Type.String(), token: Type.String() }) },
  },
} as const satisfies Record<string, RouteContract>;
