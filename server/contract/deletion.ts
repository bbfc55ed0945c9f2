import { Type } from "typebox";
import { Session } from "./auth/sign-in.ts";
import { Timestamp } from "./common.ts";
import type { RouteContract } from "./route.ts";

export const deletionRoutes = {
  "POST /api/account/deletion": {
    summary:
      "Delete the account: hidden and signed out everywhere at once, gone at `deleteAt`, and restored by signing in before. `email` is the " +
      "account's own address, typed by the person. Needs a recent step-up",
    body: Type.Object({ email: Type.String({ maxLength: 2_000 }) }, { additionalProperties: false }),
    response: { 202: Type.Object({ deleteAt: Timestamp }) },
  },
  "POST /api/auth/restore": {
    summary: "Take back the deletion of one's account, and sign in",
    body: Type.Object({ token: Type.String({ maxLength: 200 }) }, { additionalProperties: false }),
    response: { 200: Session },
  },
} as const satisfies Record<string, RouteContract>;
