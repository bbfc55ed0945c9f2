import type { Static } from "typebox";
import { Type } from "typebox";
import { spendingBounds } from "#domain/spending-limits.ts";
import { Credits } from "./common.ts";
import type { RouteContract } from "./route.ts";

const { lowestCap, lowestAsk, highest } = spendingBounds;

const own = {
  /** How many credits the person's answers may cost in a day of UTC; null: no cap. */
  dailyCapCredits: Type.Union([Type.Integer({ minimum: lowestCap, maximum: highest }), Type.Null()]),
  /** Above this price a send has to be confirmed; null: none has. */
  askAboveCredits: Type.Union([Type.Integer({ minimum: lowestAsk, maximum: highest }), Type.Null()]),
};

export const SpendingLimits = Type.Object({
  ...own,
  /** What today's answers cost or hold; null without a cap. */
  todayCredits: Type.Union([Credits, Type.Null()]),
});
export type SpendingLimits = Static<typeof SpendingLimits>;

export const SetSpendingLimits = Type.Object(own, { additionalProperties: false });
export type SetSpendingLimits = Static<typeof SetSpendingLimits>;

export const limitRoutes = {
  "GET /api/credits/limits": {
    summary: "The limits that the person set for their own spending, and what today's answers cost",
    response: { 200: SpendingLimits },
  },
  "PUT /api/credits/limits": {
    summary: "Set both limits. They hold for the next send; answers that are under way go on",
    body: SetSpendingLimits,
    response: { 200: SpendingLimits },
  },
} as const satisfies Record<string, RouteContract>;
