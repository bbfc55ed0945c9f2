import type { Static } from "typebox";
import { Type } from "typebox";
import { Credits, NoBody, Timestamp } from "./common.ts";
import type { RouteContract } from "./route.ts";

/** What depends on the installation and is therefore not in the domain's catalogue: whether a model is available, and who serves it. */
export const ModelAvailability = Type.Object({
  id: Type.String(),
  name: Type.String(),
  provider: Type.String(),
  category: Type.String(),
  credits: Credits,
  unit: Type.String(),
  available: Type.Boolean(),
  /** It has failed again and again and is not asked for so long; then it may be available again. */
  pausedSeconds: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  sandbox: Type.Boolean(),
  /** The day, in UTC, on which it leaves, once that is announced. */
  until: Type.Union([Type.String({ format: "date" }), Type.Null()]),
  /** The model that conversations can go on with afterwards. */
  successor: Type.Union([Type.String(), Type.Null()]),
});
export const ModelList = Type.Object({ models: Type.Array(ModelAvailability) });
export type ModelList = Static<typeof ModelList>;

export const Environment = Type.Object({
  /** Address of the sandbox's control page; null without a sandbox. The client shows "Sandbox" while there is one. */
  sandboxUrl: Type.Union([Type.String(), Type.Null()]),
  /** Whether one can sign in with Google here. */
  google: Type.Boolean(),
  serverTime: Timestamp,
});
export type Environment = Static<typeof Environment>;

export const catalogueRoutes = {
  "GET /api/models": { summary: "The models, their prices and whether they can be reached", response: { 200: ModelList } },
  "GET /api/environment": {
    summary: "Whether the sandbox is on, whether one can sign in with Google, and business time",
    response: { 200: Environment },
  },
  "POST /api/functions/verify-admin": {
    summary: "Whether the person is an admin (spec §6)",
    body: NoBody,
    response: { 200: Type.Object({ isAdmin: Type.Boolean() }) },
  },
} as const satisfies Record<string, RouteContract>;
