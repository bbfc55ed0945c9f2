import type { Static } from "typebox";
import { Type } from "typebox";
import { NoContent, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";

export const Factors = Type.Object({
  /** The authenticator app; null: none. */
  totp: Type.Union([Type.Object({ since: Timestamp, lastUsedAt: Type.Union([Timestamp, Type.Null()]) }), Type.Null()]),
  recoveryCodesLeft: Type.Integer(),
});
export type Factors = Static<typeof Factors>;

/** What an authenticator app needs: `uri` for a QR code, `secret` in base32 to type. `setUp` goes back with the app's first code. */
export const TotpSetUp = Type.Object({ secret: Type.String(), uri: Type.String(), setUp: Type.String() });
export type TotpSetUp = Static<typeof TotpSetUp>;

/** Shown once: the server keeps their hashes. */
const RecoveryCodes = Type.Object({ recoveryCodes: Type.Array(Type.String()) });

export const factorRoutes = {
  "GET /api/account/factors": {
    summary: "The person's second factor",
    response: { 200: Factors },
  },
  "POST /api/account/factors/totp": {
    summary: "Begin to set up an authenticator app. Nothing changes until its first code comes. May answer `step_up_required`",
    response: { 200: TotpSetUp },
  },
  "POST /api/account/factors/totp/confirm": {
    summary: "Turn the second factor on with the first code of the app. May answer `step_up_required`",
    body: Type.Object({ setUp: Type.String({ maxLength: 500 }), code: Type.String({ maxLength: 100 }) }, { additionalProperties: false }),
    response: { 200: RecoveryCodes },
  },
  "DELETE /api/account/factors/totp": {
    summary: "Turn the second factor off, and forget its recovery codes. May answer `step_up_required`",
    response: { 204: NoContent },
  },
  "POST /api/account/factors/recovery-codes": {
    summary: "New recovery codes; the old ones no longer work. May answer `step_up_required`",
    response: { 200: RecoveryCodes },
  },
} as const satisfies Record<string, RouteContract>;
