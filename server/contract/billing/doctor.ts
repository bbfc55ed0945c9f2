/** A check of one's own payments. */
import type { Static } from "typebox";
import { Type } from "typebox";
import { Cents, Credits, NoBody, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";

/** One thing that was wrong. `left`: the check could not put it right, and the team sees it. */
export const RepairedItem = Type.Union([
  Type.Object({ kind: Type.Literal("payment_booked"), paidAt: Timestamp, amountCents: Cents, credits: Credits }),
  Type.Object({ kind: Type.Literal("credits_released"), credits: Credits }),
  Type.Object({ kind: Type.Literal("doubled_removed"), credits: Credits }),
  Type.Object({ kind: Type.Literal("subscription_updated") }),
  Type.Object({ kind: Type.Literal("refund_booked") }),
  Type.Object({ kind: Type.Literal("invoice_updated") }),
  Type.Object({ kind: Type.Literal("left") }),
]);
export type RepairedItem = Static<typeof RepairedItem>;

export const PaymentCheck = Type.Object({
  /** False: the payment provider did not respond in time, so that something may not have been looked at. */
  complete: Type.Boolean(),
  /** Empty: nothing was wrong. */
  items: Type.Array(RepairedItem),
});
export type PaymentCheck = Static<typeof PaymentCheck>;

export const doctorRoutes = {
  "POST /api/billing/doctor": {
    summary: "Compares the person's payments with the payment provider's, puts right what is wrong, and says what that was",
    body: NoBody,
    response: { 200: PaymentCheck },
  },
} as const satisfies Record<string, RouteContract>;
