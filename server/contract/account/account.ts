import type { Static } from "typebox";
import { Type } from "typebox";
import { NoContent, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";

export const Account = Type.Object({
  id: Uuid,
  email: Type.String(),
  emailVerifiedAt: Timestamp,
  name: Type.Union([Type.String(), Type.Null()]),
  /** The language of the mails to the person. */
  language: Type.String(),
  avatarUrl: Type.Union([Type.String(), Type.Null()]),
  /** The address that the person has asked for. It waits until the link mailed to it is opened or expires. */
  newEmail: Type.Union([Type.Object({ email: Type.String(), expiresAt: Timestamp }), Type.Null()]),
  createdAt: Timestamp,
  lastSignInAt: Type.Union([Timestamp, Type.Null()]),
});
export type Account = Static<typeof Account>;

export const accountRoutes = {
  "GET /api/account": {
    summary: "The signed-in person's account",
    response: { 200: Account },
  },
  "POST /api/account/password": {
    summary: "Choose another password. Ends all of the person's sessions but the one this call is made with",
    body: Type.Object(
      { currentPassword: Type.String({ maxLength: 2_000 }), password: Type.String({ maxLength: 2_000 }) },
      { additionalProperties: false },
    ),
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
