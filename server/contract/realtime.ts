import type { Static } from "typebox";
import { Type } from "typebox";

/** WebSocket /api/realtime. The client sends the access token as its first message, within 5 s. It is never in the address, which logs contain. */
export const RealtimeAuthenticate = Type.Object(
  { type: Type.Literal("authenticate"), access_token: Type.String({ maxLength: 4_000 }) },
  { additionalProperties: false },
);
export type RealtimeAuthenticate = Static<typeof RealtimeAuthenticate>;

/** Tables whose changes are announced to the person they belong to; the client then reads what it shows again. */
export const realtimeTables = ["users", "user_subscriptions", "wallets", "generations", "factor_resets", "support_access"] as const;
export type RealtimeTable = (typeof realtimeTables)[number];
export type RealtimeMessage =
  | { type: "ready"; server_time: string }
  | { type: "change"; table: RealtimeTable; user_id: string }
  | { type: "closed"; code: "unauthenticated" | "session_revoked" };

/** Our own close codes (RFC 6455 §7.4.2): 4401 no valid token in time, 4403 the session was revoked. */
export const realtimeCloseCodes = { unauthenticated: 4401, revoked: 4403 } as const;
