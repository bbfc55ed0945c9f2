import type { Static } from "typebox";
import { Type } from "typebox";
import { alertPercents, spendingBounds } from "#domain/spending-limits.ts";
import { Credits, NoBody, NoContent } from "../common.ts";
import type { RouteContract } from "../route.ts";

const { lowestCap, lowestAsk, highest } = spendingBounds;

const own = {
  /** How many credits the person's answers may cost in a day of UTC; null: no cap. */
  dailyCapCredits: Type.Union([Type.Integer({ minimum: lowestCap, maximum: highest }), Type.Null()]),
  /** Above this price a send has to be confirmed; null: none has. */
  askAboveCredits: Type.Union([Type.Integer({ minimum: lowestAsk, maximum: highest }), Type.Null()]),
};

/** The share of a month's plan credits, in percent, at which the account's members are told that it is spent; null: never. */
const AlertPercentage = Type.Union([Type.Enum([...alertPercents]), Type.Null()]);

export const SpendingLimits = Type.Object({
  ...own,
  alertPercent: AlertPercentage,
  /** What today's answers cost or hold; null without a cap. */
  todayCredits: Type.Union([Credits, Type.Null()]),
});
export type SpendingLimits = Static<typeof SpendingLimits>;

/** Without `alertPercent` the alert stays as it is: pages of the previous release don't send it. */
export const SetSpendingLimits = Type.Object({ ...own, alertPercent: Type.Optional(AlertPercentage) }, { additionalProperties: false });
export type SetSpendingLimits = Static<typeof SetSpendingLimits>;

export const limitRoutes = {
  "GET /api/credits/limits": {
    summary: "The limits that the person set for their own spending, and what today's answers cost",
    response: { 200: SpendingLimits },
  },
  "PUT /api/credits/limits": {
    summary: "Set the limits and the alert. They hold for the next send; answers that are under way go on",
    body: SetSpendingLimits,
    response: { 200: SpendingLimits },
  },
  "POST /api/credits/alert/dismiss": {
    summary: "Take the notice away that says that a share of the month's plan credits is spent",
    body: NoBody,
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
