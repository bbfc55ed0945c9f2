import type { Static } from "typebox";
import { Type } from "typebox";
import { Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";

/** Something that was done to the person's account (server/domain/audit.ts has the actions and their details). */
export const Activity = Type.Object({
  id: Uuid,
  at: Timestamp,
  action: Type.String(),
  details: Type.Record(Type.String(), Type.Unknown()),
  /** A shortened address: of the network, not of the device. Null: not known, or not the person's own. */
  network: Type.Union([Type.String(), Type.Null()]),
});
export type Activity = Static<typeof Activity>;

export const activityRoutes = {
  "GET /api/account/activity": {
    summary: "What was done to the person's account, the newest first",
    querystring: Type.Object({ cursor: Type.Optional(Type.String({ maxLength: 200 })) }, { additionalProperties: false }),
    response: { 200: Type.Object({ events: Type.Array(Activity), nextCursor: Type.Union([Type.String(), Type.Null()]) }) },
  },
} as const satisfies Record<string, RouteContract>;
