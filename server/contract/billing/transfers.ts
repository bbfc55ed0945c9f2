import type { Static } from "typebox";
import { Type } from "typebox";
import { Cents, NoContent, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { Consent, OrderPreview } from "./orders.ts";
import { Interval, PaidTier } from "./subscription.ts";

const Reason = Type.String({ minLength: 5, maxLength: 500 });
/** The bank's reference of a transfer. */
const Reference = Type.String({ minLength: 1, maxLength: 140, pattern: "^\\S(.*\\S)?$" });

const Line = (maxLength: number) => Type.String({ minLength: 1, maxLength });
export const BillTo = Type.Object(
  {
    name: Line(150),
    line1: Line(200),
    line2: Type.Optional(Line(200)),
    postalCode: Line(20),
    city: Line(100),
    state: Type.Optional(Line(50)),
    country: Type.String({ pattern: "^[A-Z]{2}$" }),
    /** The number under which a business is registered for tax, by Stripe's name for its kind, such as `eu_vat`. Replaces what Stripe has. */
    taxId: Type.Optional(
      Type.Object({ type: Type.String({ pattern: "^[a-z]{2}(_[a-z]{2,10}){1,2}$" }), value: Line(30) }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
);
export type BillTo = Static<typeof BillTo>;

export const OfferTransfer = Type.Object(
  {
    email: Type.String({ maxLength: 254 }),
    interval: Type.Union([Type.Literal("month"), Type.Literal("year")]),
    daysUntilDue: Type.Integer({ minimum: 1, maximum: 60 }),
    /** Whom the invoice is made out to; needed where tax depends on it. Without it the customer's address at Stripe stays. */
    billTo: Type.Optional(BillTo),
    reason: Reason,
  },
  { additionalProperties: false },
);
export type OfferTransfer = Static<typeof OfferTransfer>;

/** An invoice to be paid by transfer. */
export const TransferInvoice = Type.Object({
  invoiceId: Type.String(),
  number: Type.Union([Type.String(), Type.Null()]),
  amountCents: Cents,
  dueAt: Timestamp,
});
export type TransferInvoice = Static<typeof TransferInvoice>;

/** An open invoice that a transfer can be recorded for. `isAgreedOn`: the plan was ordered on our page, or paid by transfer before. */
export const AwaitedTransfer = Type.Object({
  ...TransferInvoice.properties,
  plan: Type.Union([PaidTier, Type.Null()]),
  interval: Type.Union([Interval, Type.Null()]),
  isAgreedOn: Type.Boolean(),
});
export type AwaitedTransfer = Static<typeof AwaitedTransfer>;

export const ReceivedTransfer = Type.Object(
  {
    reference: Reference,
    invoiceId: Type.String({ maxLength: 200 }),
    amountCents: Type.Integer({ minimum: 1, maximum: 100_000_000 }),
    currency: Type.String({ pattern: "^[a-z]{3}$" }),
    reason: Reason,
    /** How the plan was agreed on, if the person did not order it on our page. */
    agreedElsewhere: Type.Optional(Reason),
  },
  { additionalProperties: false },
);
export type ReceivedTransfer = Static<typeof ReceivedTransfer>;

export const ReversedTransfer = Type.Object({ reference: Reference, reason: Reason }, { additionalProperties: false });
export type ReversedTransfer = Static<typeof ReversedTransfer>;

/** Money that is to be transferred back: the person withdrew from the contract, or used the guarantee, or the invoice did not need it any more. */
export const TransferReturn = Type.Object({
  invoiceId: Type.String(),
  /** The bank's reference of the transfer that paid it. */
  reference: Type.String(),
  amountCents: Cents,
  currency: Type.String(),
  askedAt: Timestamp,
  /** When the fourteen days of the law are over. */
  dueAt: Timestamp,
});
export type TransferReturn = Static<typeof TransferReturn>;

export const ReturnedTransfer = Type.Object(
  {
    /** The bank's reference of the transfer by which it went back. */
    reference: Reference,
    invoiceId: Type.String({ maxLength: 200 }),
    amountCents: Type.Integer({ minimum: 1, maximum: 100_000_000 }),
    currency: Type.String({ pattern: "^[a-z]{3}$" }),
    reason: Reason,
  },
  { additionalProperties: false },
);
export type ReturnedTransfer = Static<typeof ReturnedTransfer>;

/** Money that we lost twice: the team transferred it back to a person, and then the bank took their transfer back. */
export const ReclaimedTransfer = Type.Object(
  {
    /** Whose transfer it was. */
    invoiceId: Type.String({ maxLength: 200 }),
    /** The bank's reference of the transfer by which the second sum came; without it the team has given it up. */
    reference: Type.Optional(Reference),
    amountCents: Type.Integer({ minimum: 1, maximum: 100_000_000 }),
    currency: Type.String({ pattern: "^[a-z]{3}$" }),
    reason: Reason,
  },
  { additionalProperties: false },
);
export type ReclaimedTransfer = Static<typeof ReclaimedTransfer>;

export const TransferOffer = Type.Object({
  order: OrderPreview,
  /** In how many days of its date each invoice is to be paid. */
  daysUntilDue: Type.Integer(),
  expiresAt: Timestamp,
});
export type TransferOffer = Static<typeof TransferOffer>;

/** In calls for the team, everybody else gets `not_found`. */
export const transferRoutes = {
  "POST /api/admin/transfers/offer": {
    summary: "For the team: offer a person the Enterprise plan by bank transfer, for them to order. May answer `step_up_required`",
    body: OfferTransfer,
    response: { 200: Type.Object({ expiresAt: Timestamp }) },
  },
  "GET /api/billing/transfer-offer": {
    summary: "What the team offers the person to be paid by bank transfer, as it would be billed; null: nothing",
    response: { 200: Type.Object({ offer: Type.Union([TransferOffer, Type.Null()]) }) },
  },
  "POST /api/billing/transfer-offer/order": {
    summary: "Orders what was offered, as previewed and consented to: its first invoice is sent. Again gives the same invoice",
    body: Type.Object({ consent: Type.Optional(Consent) }, { additionalProperties: false }),
    response: { 200: TransferInvoice },
  },
  "POST /api/admin/transfers": {
    summary:
      "For the team: record that an invoice was paid by bank transfer; the same again changes nothing. May answer `step_up_required`",
    body: ReceivedTransfer,
    response: { 204: NoContent },
  },
  "POST /api/admin/transfers/reverse": {
    summary: "For the team: take a recorded transfer back. Its credits go, and the plan ends. May answer `step_up_required`",
    body: ReversedTransfer,
    response: { 204: NoContent },
  },
  "GET /api/admin/transfers/returns": {
    summary: "For the team: what is to be transferred back to people, the longest waiting first",
    response: { 200: Type.Object({ returns: Type.Array(TransferReturn) }) },
  },
  "POST /api/admin/transfers/returned": {
    summary:
      "For the team: record that money was transferred back to a person; the same again changes nothing. May answer `step_up_required`",
    body: ReturnedTransfer,
    response: { 204: NoContent },
  },
  "POST /api/admin/transfers/reclaimed": {
    summary:
      "For the team: record that money which went out twice came back, or is given up; the same again changes nothing. May answer `step_up_required`",
    body: ReclaimedTransfer,
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
