import type { Static } from "typebox";
import { Type } from "typebox";
import { Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";

/** A way to sign in, or a second factor, that was added to an account. */
export const AddedWay = Type.Object({
  kind: Type.Union([Type.Literal("passkey"), Type.Literal("totp"), Type.Literal("google")]),
  addedAt: Timestamp,
});
export type AddedWay = Static<typeof AddedWay>;

/** `email`: of the account. `ways`: what the link removes, oldest first. */
export const DisownLink = Type.Object({ email: Type.String(), ways: Type.Array(AddedWay) });
export type DisownLink = Static<typeof DisownLink>;

const body = Type.Object({ token: Type.String({ maxLength: 200 }) }, { additionalProperties: false });

export const disownRoutes = {
  "POST /api/auth/way-link": {
    summary: "Look at a link of a mail about a new way to sign in without using it: what it removes, and from whose account",
    body,
    response: { 200: DisownLink },
  },
  "POST /api/auth/disown-way": {
    summary:
      "Remove a new way to sign in and those added after it. Ends all sign-ins; `token` is of a link with which a new password is chosen",
    body,
    response: { 200: Type.Object({ email: Type.String(), token: Type.String() }) },
  },
} as const satisfies Record<string, RouteContract>;
