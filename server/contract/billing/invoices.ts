import type { Static } from "typebox";
import { Type } from "typebox";
import { Cents, Credits, Timestamp } from "../common.ts";
import type { RouteContract } from "../route.ts";

export const Plan = Type.Union([Type.Literal("starter"), Type.Literal("basic"), Type.Literal("professional"), Type.Literal("enterprise")]);
export const Interval = Type.Union([Type.Literal("month"), Type.Literal("year")]);

/** Stripe's id of an invoice. */
export const InvoiceId = Type.String({ maxLength: 200 });

export const InvoiceState = Type.Union([
  Type.Literal("paid"),
  Type.Literal("open"),
  /** Open, and a bank was told to debit for it and has not answered yet. */
  Type.Literal("processing"),
  /** Open, and the last attempt to collect it failed. */
  Type.Literal("failed"),
  /** Open, and the bank wants the cardholder to confirm the payment. */
  Type.Literal("action"),
  /** Paid, and all of it was given back. */
  Type.Literal("refunded"),
  Type.Literal("void"),
  Type.Literal("uncollectible"),
]);
export type InvoiceState = Static<typeof InvoiceState>;

/** What an invoice is for. `other`: something that is not sold here. */
const InvoiceSubject = Type.Union([
  Type.Object({ kind: Type.Literal("plan"), plan: Plan, interval: Interval, from: Timestamp, until: Timestamp }),
  Type.Object({ kind: Type.Literal("pack"), credits: Credits }),
  Type.Object({ kind: Type.Literal("other") }),
]);

export const Invoice = Type.Object({
  id: InvoiceId,
  /** The number on the PDF; null if it has none. */
  number: Type.Union([Type.String(), Type.Null()]),
  issuedAt: Timestamp,
  subject: InvoiceSubject,
  totalCents: Cents,
  /** How much of the total is tax, and at which rate of value added tax, if it has one; null: no tax was calculated. */
  tax: Type.Union([Type.Object({ cents: Cents, percent: Type.Union([Type.Number(), Type.Null()]) }), Type.Null()]),
  /** No tax could be calculated, because the billing address is missing. */
  addressMissing: Type.Boolean(),
  /** How much of it was given back. */
  refundedCents: Cents,
  state: InvoiceState,
  /** What the payment provider issued about money that was given back, the oldest first. */
  creditNotes: Type.Array(Type.Object({ id: Type.String(), number: Type.String(), amountCents: Cents })),
  /** The bank's reference of the transfer that paid it; null: none did. */
  transferReference: Type.Union([Type.String(), Type.Null()]),
});
export type Invoice = Static<typeof Invoice>;

export const InvoicePage = Type.Object({
  invoices: Type.Array(Invoice),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
  /** Invoices from before the product kept copies of them are being read; open pages are told when they are there. */
  reading: Type.Boolean(),
});
export type InvoicePage = Static<typeof InvoicePage>;

/** `pay`: the payment provider's page where it is paid, or confirmed with the bank. */
const Document = Type.Union([Type.Literal("pdf"), Type.Literal("receipt"), Type.Literal("pay")]);
/** Stripe's id of a credit note. */
const CreditNoteId = Type.String({ minLength: 1, maxLength: 200 });
export type InvoiceDocument = Static<typeof Document>;

export const invoiceRoutes = {
  "GET /api/billing/invoices": {
    summary: "The person's invoices, newest first",
    querystring: Type.Object(
      { cursor: Type.Optional(Type.String({ maxLength: 400 })), limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })) },
      { additionalProperties: false },
    ),
    response: { 200: InvoicePage },
  },
  "POST /api/billing/invoices/:id/link": {
    summary:
      "A fresh link to an invoice's PDF, its receipt, the page where it is paid, or the PDF of one of its credit notes. The payment provider's links expire",
    params: Type.Object({ id: InvoiceId }),
    body: Type.Union([
      Type.Object({ document: Document }, { additionalProperties: false }),
      Type.Object({ creditNote: CreditNoteId }, { additionalProperties: false }),
    ]),
    response: { 200: Type.Object({ url: Type.String() }) },
  },
  "GET /api/billing/pay": {
    summary: "Leads to the payment provider's page of an unpaid invoice. For links in mails: needs no sign-in, and changes nothing",
    querystring: Type.Object({ invoice: Type.String({ maxLength: 400 }) }),
    response: { 303: Type.Null() },
  },
} as const satisfies Record<string, RouteContract>;
