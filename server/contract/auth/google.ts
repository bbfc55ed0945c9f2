import { Type } from "typebox";
import { NoBody, NoContent } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { LinkedGoogle } from "./security.ts";
import { SignedIn } from "./sign-in.ts";

/** Where the browser goes next: a page of Google's. */
const Redirection = Type.Object({ url: Type.String() });

export const googleRoutes = {
  "POST /api/auth/google": {
    summary: "Begin to sign in with Google. `return` is a path of ours to come back to; Google's answer is then finished here",
    body: Type.Object({ return: Type.Optional(Type.String({ maxLength: 500 })) }, { additionalProperties: false }),
    response: { 200: Redirection },
  },
  "POST /api/auth/google/finish": {
    summary: "Sign in with the answer Google gave in this browser. An address that has an account is answered with `own_way_first`",
    body: Type.Object({ language: Type.Optional(Type.String({ maxLength: 35 })) }, { additionalProperties: false }),
    response: { 200: Type.Union([SignedIn, Type.Object({ status: Type.Literal("own_way_first"), email: Type.String() })]) },
  },
  "POST /api/account/step-up/google": {
    summary: "Begin to sign in afresh with the linked Google account, for `POST /api/account/step-up`. `return` is a path of ours",
    body: Type.Object({ return: Type.String({ maxLength: 500 }) }, { additionalProperties: false }),
    response: { 200: Redirection },
  },
  "POST /api/account/google/begin": {
    summary: "Begin to link a Google account. Needs a factor shown lately",
    body: NoBody,
    response: { 200: Redirection },
  },
  "POST /api/account/google": {
    summary: "Link the Google account that answered in this browser. Needs a factor shown lately; after `own_way_first`, a later sign-in",
    body: NoBody,
    response: { 200: LinkedGoogle },
  },
  "DELETE /api/account/google": {
    summary: "Unlink Google. Needs a factor shown lately and another way in",
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
