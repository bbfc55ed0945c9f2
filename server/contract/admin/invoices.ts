/** A person's invoices, as admins see them. Support sees no money. */
import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { InvoiceState } from "../billing/invoices.ts";
import { Cents, Credits, Timestamp, Uuid } from "../common.ts";
import type { RouteContract } from "../route.ts";
import { tablePage, tableQuery } from "../tables.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Person = Type.Object({ userId: Uuid });
const OfInvoice = Type.Object({ userId: Uuid, invoiceId: Type.String({ maxLength: 200 }) });

/** What it is for: a plan, with its interval; a pack, with its credits; or neither. */
export const InvoiceRow = Type.Object({
  id: Type.String(),
  number: orNull(Type.String()),
  issuedAt: Timestamp,
  plan: orNull(Type.String()),
  interval: orNull(Type.Union([Type.Literal("month"), Type.Literal("year")])),
  packCredits: orNull(Credits),
  totalCents: Cents,
  taxCents: orNull(Cents),
  refundedCents: Cents,
  state: InvoiceState,
  transferReference: orNull(Type.String()),
});
export type InvoiceRow = Static<typeof InvoiceRow>;
export const InvoicesQuery = tableQuery(Type.Literal("time"), { state: Type.Optional(InvoiceState) });
export type InvoicesQuery = Static<typeof InvoicesQuery>;

export const adminInvoiceRoutes = {
  "GET /api/admin/people/:userId/invoices": {
    summary: "For admins: the person's invoices",
    params: Person,
    querystring: InvoicesQuery,
    response: { 200: tablePage(InvoiceRow) },
  },
  "GET /api/admin/people/:userId/invoices.csv": {
    summary: "For admins: the same as CSV",
    params: Person,
    querystring: InvoicesQuery,
    response: { 200: Type.Any({ description: "text/csv" }) },
  },
  "POST /api/admin/people/:userId/invoices/:invoiceId/link": {
    summary:
      "For admins: a fresh link to the invoice's PDF at the payment provider. Changes nothing. May answer `payment_provider_unavailable`",
    params: OfInvoice,
    response: { 200: Type.Object({ url: Type.String() }) },
  },
} satisfies Record<string, RouteContract>;
