import type { Static } from "typebox";
import { Type } from "typebox";
import { NoContent, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { SignedIn } from "./sign-in.ts";

/** A request to remove a second factor that was lost. */
export const FactorReset = Type.Object({
  status: Type.Union([Type.Literal("waiting"), Type.Literal("link_sent")]),
  askedAt: Timestamp,
  /** `waiting`: when the link is mailed. `link_sent`: how long the link works. */
  until: Timestamp,
});
export type FactorReset = Static<typeof FactorReset>;

/** The token of a sign-in that waits for its second factor. */
const PendingToken = Type.String({ maxLength: 200 });
const LinkToken = Type.String({ maxLength: 200 });

export const factorResetRoutes = {
  "POST /api/auth/factor-reset": {
    summary: "Ask for the removal of a lost second factor, from a sign-in that waits for it. A link is mailed after 72 hours",
    body: Type.Object({ token: PendingToken }, { additionalProperties: false }),
    response: { 202: FactorReset },
  },
  "POST /api/auth/factor-reset/cancel": {
    summary: "Cancel such a request with the token of the mail that told of it",
    body: Type.Object({ token: LinkToken }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
  "POST /api/auth/factor-reset/remove": {
    summary: "Remove the second factor with the mailed link, from a sign-in that waits for it. Ends all sessions and signs in",
    body: Type.Object({ token: PendingToken, link: LinkToken }, { additionalProperties: false }),
    response: { 200: SignedIn },
  },
  "GET /api/account/factor-reset": {
    summary: "Whether somebody asked for the removal of the person's second factor",
    response: { 200: Type.Object({ reset: Type.Union([FactorReset, Type.Null()]) }) },
  },
  "DELETE /api/account/factor-reset": {
    summary: "Cancel that request",
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
