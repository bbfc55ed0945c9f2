import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { modelCategories } from "../../domain/models.ts";
import { OffTexts } from "../catalogue.ts";
import { Credits, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { tablePage, tableQuery } from "../tables.ts";
import { Reason } from "./team.ts";

/** In credits for a unit. */
const highestPrice = 500;

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Day = Type.String({ format: "date" });
const Answers = Type.Object({ answers: Type.Integer({ minimum: 0 }), failed: Type.Integer({ minimum: 0 }) });

/** The state of a model: the first of these, in this order, that is true. */
const adminModelStates = ["planned", "retired", "off", "unreachable", "paused", "announced", "offered"] as const;
const State = Type.Enum([...adminModelStates]);

export const AdminModel = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /** The provider, or the name of the operator's server. */
  provider: Type.String(),
  category: Type.Enum([...modelCategories]),
  state: State,
  /** The id by which its provider knows it. */
  upstreamModel: Type.String(),
  from: Day,
  until: orNull(Day),
  successor: orNull(Type.String()),
  credits: Credits,
  unit: Type.String(),
  /** Names the prices by which it is sold now. */
  priceVersion: Type.String(),
  /** The release's price first, which has no day, then the prices that admins planned, in the order of their days. */
  prices: Type.Array(Type.Object({ beginsOn: orNull(Day), credits: Credits, state: Type.Enum(["over", "now", "planned"]) })),
  /** The smallest price that covers what the dearest answer can cost us. */
  leastCredits: Credits,
  /** Who switched it off: the operator's file, which only the operator can change, or an admin. */
  offBy: orNull(Type.Union([Type.Literal("file"), Type.Literal("admin")])),
  texts: OffTexts,
  /** The version of the admin's switch; 0: no admin has used it. */
  version: Type.Integer({ minimum: 0 }),
  switchedAt: orNull(Timestamp),
  /** How long this process will not ask it, because it failed again and again; null: it is not paused. */
  pausedSeconds: orNull(Type.Integer({ minimum: 1 })),
  /** The sandbox plays its provider. */
  sandbox: Type.Boolean(),
  /** From the daily sums, of this day in UTC. */
  today: Answers,
  /** Counted over the newest answers of the last hour. */
  lastHour: Answers,
  /** The finding of the daily check of its provider's list. */
  finding: orNull(Type.String()),
});
export type AdminModel = Static<typeof AdminModel>;

const ModelsQuery = tableQuery(Type.Enum(["order", "failed", "answers", "name"]), {
  state: Type.Optional(State),
  category: Type.Optional(Type.Enum([...modelCategories])),
  provider: Type.Optional(Type.String({ maxLength: 100 })),
});
export type ModelsQuery = Static<typeof ModelsQuery>;

export const SwitchModel = Type.Object(
  {
    off: Type.Boolean(),
    /** For people to read. Languages without one get the English. */
    texts: OffTexts,
    /** The version that the caller saw. */
    version: Type.Integer({ minimum: 0 }),
    reason: Reason,
  },
  { additionalProperties: false },
);
export type SwitchModel = Static<typeof SwitchModel>;

const Price = Type.Integer({ minimum: 1, maximum: highestPrice });

export const PlanPrice = Type.Object({ credits: Price, beginsOn: Day, reason: Reason }, { additionalProperties: false });
export type PlanPrice = Static<typeof PlanPrice>;
/** `credits`: of the price that the caller saw. */
const DropPrice = Type.Object({ beginsOn: Day, credits: Credits, reason: Reason }, { additionalProperties: false });
export type DropPrice = Static<typeof DropPrice>;

/** Computed from the answers of this many days up to now. */
export const PricePreview = Type.Object({
  days: Type.Integer(),
  /** How many accounts used the model. They are counted up to `mostCounted`. */
  accounts: Type.Integer({ minimum: 0 }),
  hasMoreAccounts: Type.Boolean(),
  answers: Type.Integer({ minimum: 0 }),
  /** What these answers were charged, and what they would have been charged at the other price. */
  credits: Credits,
  creditsThen: Credits,
});
export type PricePreview = Static<typeof PricePreview>;

const byModel = Type.Object({ modelId: Type.String({ minLength: 1, maxLength: 100 }) });

export const adminModelRoutes = {
  "GET /api/admin/models": {
    summary: "For the team: every model, its life, its state and how it answers",
    querystring: ModelsQuery,
    response: { 200: tablePage(AdminModel) },
  },
  "GET /api/admin/models.csv": {
    summary: "For the team: the same as CSV",
    querystring: ModelsQuery,
    response: { 200: Type.Any({ description: "text/csv" }) },
  },
  "PUT /api/admin/models/:modelId/switch": {
    summary:
      "For admins: switch a model off or on, or change what people read of it. May answer `step_up_required`, `conflict`, `not_found`",
    params: byModel,
    body: SwitchModel,
    response: { 200: AdminModel },
  },
  "GET /api/admin/models/:modelId/price-preview": {
    summary: "For the team: whom another price would have concerned within the last days",
    params: byModel,
    querystring: Type.Object({ credits: Price }),
    response: { 200: PricePreview },
  },
  "POST /api/admin/models/:modelId/prices": {
    summary:
      "For admins: plan a price from a day to come on. Answers that were given keep theirs. May answer `step_up_required`, `conflict`, `not_found`, `price_below_cost`",
    params: byModel,
    body: PlanPrice,
    response: { 200: AdminModel },
  },
  "POST /api/admin/models/:modelId/prices/drop": {
    summary: "For admins: drop a planned price whose day has not begun. May answer `step_up_required`, `not_found`, `conflict`",
    params: byModel,
    body: DropPrice,
    response: { 200: AdminModel },
  },
} as const satisfies Record<string, RouteContract>;
