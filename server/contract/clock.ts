import { Type } from "typebox";
import { Timestamp } from "./common.ts";
import type { RouteContract } from "./route.ts";

/** The sandbox moves the product's business time with these calls. They exist only while the sandbox is on, and need its token. */
export const ClockState = Type.Object({
  now: Timestamp,
  /** The next time at which the product has work to do; null if none is planned. */
  nextDueAt: Type.Union([Timestamp, Type.Null()]),
  /** Inbox events, outbox rows and overdue sweeps not done yet. */
  pending: Type.Integer({ minimum: 0 }),
});

export const sandboxClockRoutes = {
  "GET /api/sandbox/clock": { summary: "Business time and what is still to be done", response: { 200: ClockState } },
  "PUT /api/sandbox/clock": {
    summary: "Move business time forward, never back",
    body: Type.Object({ now: Timestamp }, { additionalProperties: false }),
    response: { 200: ClockState },
  },
} as const satisfies Record<string, RouteContract>;
