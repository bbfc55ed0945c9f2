/** Our copy of a customer's invoices: it must say what Stripe has of each, to the cent. */
import type Stripe from "stripe";
import type { Finding } from "#domain/findings.ts";
import type { CreditNoteRow, InvoiceRow } from "../../db/types-billing.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { idOf } from "../../providers/stripe.ts";
import type { BillingDeps, Check } from "./checks.ts";
import { report } from "./checks.ts";
import { presentNote } from "./credit-notes.ts";
import { selectInvoicesOf } from "./invoice-queries.ts";
import { isIssued, mirrorInvoice, returnedByTransfer } from "./mirror-invoice.ts";
import { readTax } from "./stripe-tax.ts";
import { selectTransferredInvoices } from "./transfer-queries.ts";

/** If more copies are wrong, the next check reads the rest. */
const copiesAtOnce = 20;

/** What Stripe has of one customer. Each charge is known by its payment intent, as an invoice's payments name it. */
export interface AtStripe {
  invoices: readonly Stripe.Invoice[];
  charges: readonly Stripe.Charge[];
}

/** What went back of the invoice's payments; undefined if one of them is of a charge that was not read. */
function refundedOf(invoice: Stripe.Invoice, refundedBy: ReadonlyMap<string, number>): number | undefined {
  let sum = 0;
  for (const { status, payment } of invoice.payments?.data ?? []) {
    if (status !== "paid") continue;
    const intent = idOf(payment.payment_intent);
    if (intent === undefined) continue;
    const refunded = refundedBy.get(intent);
    if (refunded === undefined) return undefined;
    sum += refunded;
  }
  return sum;
}

/** By invoice, the oldest first. Stripe is asked only if either side has any. */
async function notesOf(
  { payments }: Pick<BillingDeps, "payments">,
  customer: string,
  invoices: readonly Stripe.Invoice[],
  rows: ReadonlyMap<string, InvoiceRow>,
): Promise<Map<string, CreditNoteRow[]>> {
  const byInvoice = new Map<string, CreditNoteRow[]>();
  const isCredited = ({ id, post_payment_credit_notes_amount: post, pre_payment_credit_notes_amount: pre }: Stripe.Invoice) =>
    post + pre > 0 || (rows.get(id)?.credit_notes.length ?? 0) > 0;
  if (!invoices.some(isCredited)) return byInvoice;
  const notes = await payments.creditNotes.list({ customer, limit: 100 }).autoPagingToArray({ limit: 1_000 });
  for (const note of notes.reverse()) {
    if (note.status !== "issued") continue;
    const invoiceId = idOf(note.invoice) ?? "";
    byInvoice.set(invoiceId, [...(byInvoice.get(invoiceId) ?? []), presentNote(note)]);
  }
  return byInvoice;
}

function sameNotes(left: readonly CreditNoteRow[], right: readonly CreditNoteRow[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ id, number, amountCents }, index) => {
      const other = right[index];
      return other?.id === id && other.number === number && other.amountCents === amountCents;
    })
  );
}

/** Those of the invoices that our list lacks, or has otherwise: state, sums, tax, credit notes or what of it went back. */
export async function selectWrongInvoices({ deps }: Check, customer: string, { invoices: all, charges }: AtStripe): Promise<string[]> {
  const invoices = all.filter(isIssued);
  const ids = invoices.map(({ id }) => id);
  const rows = new Map((await selectInvoicesOf(deps.db, ids)).map((row) => [row.id, row]));
  const refundedBy = new Map(charges.map((charge) => [idOf(charge.payment_intent) ?? charge.id, charge.amount_refunded]));
  const transferred = await selectTransferredInvoices(deps.db, ids);
  const notes = await notesOf(deps, customer, invoices, rows);
  const found: string[] = [];
  for (const invoice of invoices) {
    const row = rows.get(invoice.id);
    const tax = row && (await readTax(deps, invoice));
    // Stripe does not know of money that was transferred.
    const byTransfer = transferred.has(invoice.id) ? await returnedByTransfer(deps.db, invoice.id) : undefined;
    const refunded = byTransfer ?? refundedOf(invoice, refundedBy) ?? row?.refunded_cents;
    const isSame =
      row?.status === invoice.status &&
      row.unpaid_cents === invoice.amount_remaining &&
      row.total_cents === invoice.total &&
      row.refunded_cents === refunded &&
      row.tax_cents === tax?.tax_cents &&
      row.tax_percent === tax.tax_percent &&
      row.tax_location_missing === tax.tax_location_missing &&
      sameNotes(row.credit_notes, notes.get(invoice.id) ?? []);
    if (!isSame) found.push(invoice.id);
  }
  return found;
}

/** The invoices that were paid by these charges. */
export function paidBy({ invoices, charges }: AtStripe, chargeIds: ReadonlySet<string>): string[] {
  const intents = new Set(charges.flatMap(({ id, payment_intent: intent }) => (chargeIds.has(id) ? (idOf(intent) ?? []) : [])));
  return invoices.flatMap(({ id, payments }) =>
    payments?.data.some(({ payment }) => intents.has(idOf(payment.payment_intent) ?? "")) ? [id] : [],
  );
}

/** Reads the wrong invoices again. Those that were just booked are no finding of their own. */
export async function repairInvoices(
  check: Check,
  payerId: string,
  wrong: readonly string[],
  booked: ReadonlySet<string>,
): Promise<Finding[]> {
  const { deps } = check;
  const found: Finding[] = [];
  for (const subject of wrong.slice(0, copiesAtOnce)) {
    check.signal?.throwIfAborted();
    await mirrorInvoice(deps, subject);
    if (booked.has(subject)) continue;
    found.push(await report(check, { kind: "wrong_invoice", subject, payerId, details: {}, isRepaired: true }));
  }
  if (wrong.length > 0) await announceToMembers(deps, payerId, "user_subscriptions");
  return found;
}
