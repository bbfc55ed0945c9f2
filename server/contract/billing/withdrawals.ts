import type { Static } from "typebox";
import { Type } from "typebox";
import { Cents, Credits, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { Subject } from "./orders.ts";

/** The id of the invoice by which the contract was paid first. */
const ContractId = Type.String({ maxLength: 200 });

export const Contract = Type.Object({
  id: ContractId,
  subject: Subject,
  state: Type.Union([
    Type.Literal("open"),
    Type.Literal("too_late"),
    /** All credits are spent. */
    Type.Literal("used"),
    Type.Literal("withdrawn"),
    /** The person asked for the payment by the money-back guarantee, and it is on its way. */
    Type.Literal("asked"),
    /** Nothing of the payment is left to give back. */
    Type.Literal("returned"),
    /** The bank decides about the payment. */
    Type.Literal("disputed"),
  ]),
  concludedAt: Timestamp,
  /** The last moment. */
  until: Timestamp,
  /** What is paid back, or was to be when the person withdrew. */
  amountCents: Cents,
  grantedCredits: Credits,
  unspentCredits: Credits,
  /** It was paid by bank transfer, and the money goes back by one. */
  byTransfer: Type.Boolean(),
  /** When the withdrawal arrived. */
  withdrawnAt: Type.Union([Timestamp, Type.Null()]),
});
export type Contract = Static<typeof Contract>;

export const Withdrawals = Type.Object({
  /** The name and the address that the statement gives. */
  name: Type.Union([Type.String(), Type.Null()]),
  email: Type.String(),
  contracts: Type.Array(Contract),
});
export type Withdrawals = Static<typeof Withdrawals>;

export const withdrawalRoutes = {
  "GET /api/billing/withdrawals": {
    summary: "The person's contracts whose period of withdrawal is not over, newest first, with what would be paid back now",
    response: { 200: Withdrawals },
  },
  "POST /api/billing/withdrawals": {
    summary: "Withdraw from a contract. Ends a plan at once; of a pack its unspent credits go. Again gives the same answer",
    body: Type.Object({ contractId: ContractId }, { additionalProperties: false }),
    response: { 202: Contract },
  },
} as const satisfies Record<string, RouteContract>;
