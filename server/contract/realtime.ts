import type { Static } from "typebox";
import { Type } from "typebox";

/** WebSocket /api/realtime. The access token is the first message, within 5 s; never in the address. */
export const RealtimeAuthenticate = Type.Object(
  { type: Type.Literal("authenticate"), access_token: Type.String({ maxLength: 4_000 }) },
  { additionalProperties: false },
);
export type RealtimeAuthenticate = Static<typeof RealtimeAuthenticate>;

/** A change of the person's own rows; the client reads afresh what it shows. */
export type RealtimeTable = "user_subscriptions" | "wallets" | "generations";
export type RealtimeMessage =
  | { type: "ready"; server_time: string }
  | { type: "change"; table: RealtimeTable; user_id: string }
  | { type: "closed"; code: "unauthenticated" | "session_revoked" };

/** Close codes of our own (RFC 6455 §7.4.2): 4401 no valid token in time, 4403 the session was cut. */
export const realtimeCloseCodes = { unauthenticated: 4401, revoked: 4403 } as const;
