/** Credit notes of paid invoices: for money that went back by a refund of their payment, or outside of Stripe. */
import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listOf, listRoute, retrieveRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { invalidParameter, invalidRequest, missingParameter, notPlayed } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import { paymentsOf } from "./invoice-collect.ts";
import type { Parameters } from "./parameters.ts";
import type { CreditNote, Invoice, Refund } from "./wire.ts";

type LinkedRefund = CreditNote["refunds"][number];

function notesOf(context: Context, invoice: string): CreditNote[] {
  return context.store.where("credit_note", [{ path: "invoice", operator: "=", value: invoice }]);
}

/** Throws 400 for a refund of another payment, and for more than is left of it. */
function readRefund(context: Context, parameters: Parameters, invoice: Invoice): LinkedRefund {
  parameters.only("type", "refund");
  const refund: Refund = context.store.reference("refund", parameters.requiredText("refund"), parameters.nameOf("refund"));
  const amount = parameters.integer("amount_refunded", 1, refund.amount) ?? refund.amount;
  const intents = paymentsOf(context, invoice.id).map(({ payment }) => payment.payment_intent);
  if (!intents.includes(refund.payment_intent ?? ""))
    throw invalidRequest(`The refund ${refund.id} is not of a payment of this invoice.`, parameters.nameOf("refund"));
  const linked = notesOf(context, invoice.id).flatMap((note) => note.refunds.filter((other) => other.refund === refund.id));
  if (linked.reduce((sum, other) => sum + other.amount_refunded, amount) > refund.amount)
    throw invalidRequest(`The refund ${refund.id} is linked to another credit note already.`, parameters.nameOf("refund"));
  return { amount_refunded: amount, payment_record_refund: null, refund: refund.id, type: "refund" };
}

/** The share of the invoice's tax that belongs to `amount`. */
function taxesOf(invoice: Invoice, amount: number): NonNullable<CreditNote["total_taxes"]> {
  return (invoice.total_taxes ?? []).map((tax) => {
    const share = Math.round((tax.amount * amount) / invoice.total);
    return { ...tax, amount: share, taxable_amount: tax.amount === 0 ? (tax.taxable_amount ? amount : 0) : amount - share };
  });
}

function create({ context, parameters }: ApiCall): CreditNote {
  parameters.refuse("lines", "shipping_cost", "refund_amount", "credit_amount", "effective_at");
  parameters.only("email_type", "none");
  const invoice = context.store.reference("invoice", parameters.requiredText("invoice"), "invoice");
  const amount = parameters.integer("amount", 1);
  if (amount === undefined) throw missingParameter("amount");
  if (invoice.status !== "paid") throw notPlayed("invoice", "one that is paid");
  const refunds = (parameters.objects("refunds") ?? []).map((given) => readRefund(context, given, invoice));
  const outOfBand = parameters.integer("out_of_band_amount", 1) ?? null;
  const settled = refunds.reduce((sum, refund) => sum + refund.amount_refunded, outOfBand ?? 0);
  if (settled !== amount)
    throw invalidRequest(
      `The sum of credit amount, refund amount and out of band amount (${settled}) must equal the credit note amount (${amount}).`,
    );
  const earlier = notesOf(context, invoice.id);
  const credited = earlier.reduce((sum, note) => sum + note.amount, amount);
  if (credited > invoice.total) throw invalidRequest("The credit notes would be about more than the invoice.", "amount");
  const id = newId("cn");
  const taxes = taxesOf(invoice, amount);
  const net = amount - taxes.reduce((sum, tax) => sum + tax.amount, 0);
  const [line] = invoice.lines.data;
  const none = { discount_amount: 0, discount_amounts: [], pretax_credit_amounts: [] };
  const item = {
    ...{ id: newId("cnli"), object: "credit_note_line_item" as const, amount, description: line?.description ?? null, ...none },
    ...(line && { invoice_line_item: line.id }),
    ...{ livemode: false, metadata: {}, quantity: null, tax_rates: [], taxes, type: "invoice_line_item" as const },
    ...{ unit_amount: null, unit_amount_decimal: null },
  };
  const note: CreditNote = {
    ...{ id, object: "credit_note", amount, amount_shipping: 0, created: context.now(), currency: invoice.currency },
    ...{ customer: String(invoice.customer), customer_account: null, customer_balance_transaction: null, ...none },
    ...{ effective_at: context.now(), invoice: invoice.id, lines: listOf([item], `/v1/credit_notes/${id}/lines`), livemode: false },
    memo: parameters.text("memo") ?? null,
    metadata: parameters.metadata("metadata"),
    number: `${invoice.number ?? invoice.id}-CN-${String(earlier.length + 1).padStart(2, "0")}`,
    out_of_band_amount: outOfBand,
    pdf: `${context.origin}/credit-notes/${id}/pdf`,
    ...{ post_payment_amount: amount, pre_payment_amount: 0 },
    reason: parameters.oneOf("reason", ["duplicate", "fraudulent", "order_change", "product_unsatisfactory"]) ?? null,
    ...{ refunds, shipping_cost: null, status: "issued", subtotal: amount, subtotal_excluding_tax: net, total: amount },
    ...{ total_excluding_tax: net, total_taxes: taxes, type: "post_payment", voided_at: null },
  };
  context.store.insert("credit_note", note);
  saveChange(context, "invoice", "invoice.updated", { ...invoice, post_payment_credit_notes_amount: credited });
  emit(context, "credit_note.created", note);
  return note;
}

/** Has a route of its own, because otherwise `preview` would be read as an id. */
function previewNotes(): never {
  throw invalidParameter("The sandbox does not play previews of credit notes (GET /v1/credit_notes/preview).");
}

export const creditNoteRoutes: ApiRoute[] = [
  { method: "GET", url: "/v1/credit_notes/preview", handle: previewNotes },
  { method: "POST", url: "/v1/credit_notes", handle: create },
  listRoute("credit_note", "/v1/credit_notes", (parameters) => equalityFilters(parameters, { invoice: "invoice", customer: "customer" })),
  retrieveRoute("credit_note", "/v1/credit_notes"),
];
