import type { Static } from "typebox";
import { Type } from "typebox";
import { Cents, Credits, NoBody, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";

export const MoneyBack = Type.Object({
  state: Type.Union([
    Type.Literal("open"),
    Type.Literal("too_late"),
    /** Too many of the credits are spent. */
    Type.Literal("used"),
    /** Under way. */
    Type.Literal("asked"),
    /** Nothing of the payment is left to give back. */
    Type.Literal("returned"),
    /** The bank decides about the payment. */
    Type.Literal("disputed"),
  ]),
  /** What is paid back, or was asked for. */
  amountCents: Cents,
  paidAt: Timestamp,
  /** The last moment. */
  until: Timestamp,
  spentCredits: Credits,
  /** No more than these may be spent. */
  allowedCredits: Credits,
  /** The team transfers the money back, because a bank transfer paid. */
  byTransfer: Type.Boolean(),
});
export type MoneyBack = Static<typeof MoneyBack>;

export const moneyBackRoutes = {
  "GET /api/billing/money-back": {
    summary: "Whether the person can take their first payment back, and how much it is",
    response: { 200: Type.Object({ moneyBack: Type.Union([MoneyBack, Type.Null()]) }) },
  },
  "POST /api/billing/money-back": {
    summary: "Take the first payment back. Ends the subscription at once. Asks for a factor shown within the last ten minutes",
    body: NoBody,
    response: { 202: MoneyBack },
  },
} as const satisfies Record<string, RouteContract>;
