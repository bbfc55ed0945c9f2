import type { Static } from "typebox";
import { Type } from "typebox";
import { NoContent, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";

const Known = Type.Union([Type.String(), Type.Null()]);

/** One of the person's sign-ins that still hold. */
export const OwnSession = Type.Object({
  id: Uuid,
  /** The one this call was made with. */
  current: Type.Boolean(),
  /** What the browser called itself; null: not known. */
  browser: Known,
  system: Known,
  /** An IANA name. The browser sends it in the header X-Time-Zone of the calls that open or continue a session. */
  timeZone: Known,
  createdAt: Timestamp,
  /** When its tokens were last exchanged: while somebody uses it, every ten minutes. */
  lastUsedAt: Timestamp,
});
export type OwnSession = Static<typeof OwnSession>;

/** A Google account that signs the person in: the address it has at Google, and since when it does. */
export const LinkedGoogle = Type.Object({ email: Type.String(), linkedAt: Timestamp });
export type LinkedGoogle = Static<typeof LinkedGoogle>;

export const WaysIn = Type.Object({
  /** False: the person has none yet. A mailed link lets them choose one. */
  password: Type.Boolean(),
  google: Type.Union([LinkedGoogle, Type.Null()]),
  /** How many. */
  passkeys: Type.Integer(),
});
export type WaysIn = Static<typeof WaysIn>;

export const securityRoutes = {
  "GET /api/account/ways-in": {
    summary: "The ways in which the person can sign in. The last one can't be removed",
    response: { 200: WaysIn },
  },
  "GET /api/account/sessions": {
    summary: "Where the person is signed in: the hundred sessions used last, the newest first",
    response: { 200: Type.Object({ sessions: Type.Array(OwnSession) }) },
  },
  "DELETE /api/account/sessions/:id": {
    summary: "End one of the person's sessions. Its next call is refused, and its open connections are closed",
    params: Type.Object({ id: Uuid }),
    response: { 204: NoContent },
  },
  "DELETE /api/account/sessions": {
    summary: "End all of the person's sessions but the one this call is made with",
    response: { 200: Type.Object({ ended: Type.Integer() }) },
  },
} as const satisfies Record<string, RouteContract>;
