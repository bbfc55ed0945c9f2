/**
 * Credit notes say what of an invoice was given back (decision 74): Stripe keeps them with the invoice, numbers them, and takes their tax off what
 * is owed. One is issued for each refund that has none yet, whoever made the refund, and for money that the team transferred back.
 */
import Stripe from "stripe";
import type { CreditNoteRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { idOf, isRefused } from "../../providers/stripe.ts";
import { selectInvoice } from "./invoice-queries.ts";

type CreditDeps = Pick<Deps, "db" | "payments" | "log">;

async function listNotes({ payments }: Pick<Deps, "payments">, invoice: string): Promise<Stripe.CreditNote[]> {
  const all = await payments.creditNotes.list({ invoice, limit: 100 }).autoPagingToArray({ limit: 1_000 });
  return all.filter(({ status }) => status === "issued");
}

export function presentNote({ id, number, amount }: Stripe.CreditNote): CreditNoteRow {
  return { id, number, amountCents: amount };
}

/** Those that Stripe has for the invoice, the oldest first. */
export async function readCreditNotes(deps: Pick<Deps, "payments">, invoice: Stripe.Invoice): Promise<CreditNoteRow[]> {
  if (invoice.post_payment_credit_notes_amount + invoice.pre_payment_credit_notes_amount === 0) return [];
  const notes = await listNotes(deps, invoice.id);
  return notes.reverse().map(presentNote);
}

/** If Stripe refuses, an operator may have issued one by hand, or the key lacks the right. That is only logged: the money has gone back. */
async function issue({ payments, log }: CreditDeps, note: Stripe.CreditNoteCreateParams, about: string): Promise<void> {
  try {
    await payments.creditNotes.create({ ...note, email_type: "none" }, { idempotencyKey: `credit-note:${about}` });
  } catch (error) {
    if (!isRefused(error) && !(error instanceof Stripe.errors.StripePermissionError)) throw error;
    log.error({ err: error, invoice: note.invoice }, "Stripe refuses a credit note for money that went back: issue it in the dashboard");
  }
}

function sumOf(amounts: readonly { amount: number }[]): number {
  return amounts.reduce((sum, { amount }) => sum + amount, 0);
}

async function isCredited({ db }: CreditDeps, invoiceId: string, cents: number): Promise<boolean> {
  const known = await selectInvoice(db, invoiceId);
  return sumOf((known?.credit_notes ?? []).map(({ amountCents }) => ({ amount: amountCents }))) >= cents;
}

const reasons: Readonly<Partial<Record<string, "duplicate" | "fraudulent">>> = { duplicate: "duplicate", fraudulent: "fraudulent" };

/** For the refunds of the invoice's payment that succeeded. Safe to repeat. */
export async function creditRefunds(deps: CreditDeps, invoiceId: string, refunds: readonly Stripe.Refund[]): Promise<void> {
  if (refunds.length === 0 || (await isCredited(deps, invoiceId, sumOf(refunds)))) return;
  const linked = new Set((await listNotes(deps, invoiceId)).flatMap((note) => note.refunds.map(({ refund }) => idOf(refund))));
  // Stripe lists the newest first.
  for (const { id, amount, reason } of [...refunds].reverse()) {
    if (linked.has(id)) continue;
    const because = reasons[reason ?? ""];
    await issue(deps, { invoice: invoiceId, amount, refunds: [{ refund: id }], ...(because ? { reason: because } : {}) }, id);
  }
}

/** For money that was transferred back. Safe to repeat. */
export async function creditTransfer(deps: CreditDeps, invoiceId: string, returned: { id: string; amount_cents: number }): Promise<void> {
  const { id, amount_cents: amount } = returned;
  if (await isCredited(deps, invoiceId, amount)) return;
  await issue(deps, { invoice: invoiceId, amount, out_of_band_amount: amount }, id);
}
