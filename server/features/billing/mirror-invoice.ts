/**
 * Copies what a person sees of an invoice from Stripe into our table, so that the list of invoices needs no call to Stripe. Credits do not
 * follow it: they follow the paid invoices that grant-invoice.ts records.
 */
import type Stripe from "stripe";
import { packOf } from "#domain/plans.ts";
import type { Executor } from "../../db/transaction.ts";
import type { InvoiceRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { fromUnix, idOf, orMissing } from "../../providers/stripe.ts";
import { creditRefunds, readCreditNotes } from "./credit-notes.ts";
import { findPayerOfCustomer } from "./customers.ts";
import * as queries from "./invoice-queries.ts";
import { writeReading } from "./readings.ts";
import { graceEndOf, mailPaymentFailed, mailTransferInvoice } from "./renewal-mails.ts";
import { planOfPrice } from "./stripe-catalogue.ts";
import { readTax } from "./stripe-tax.ts";
import { selectReturnOf, selectTransferOf, selectUnpaidOrderOf } from "./transfer-queries.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log">;

type Subject = Pick<InvoiceRow, "plan_key" | "billing_interval" | "pack_key" | "period_start" | "period_end">;
type Collected = Pick<InvoiceRow, "refunded_cents" | "failed" | "needs_action" | "processing">;

/** What the invoice is for; its lines can't change once it is final. */
async function readSubject({ payments }: BillingDeps, invoice: Stripe.Invoice): Promise<Subject> {
  const line = invoice.lines.data.find(({ amount }) => amount > 0) ?? invoice.lines.data[0];
  const priceId = idOf(line?.pricing?.price_details?.price);
  const price = priceId === undefined ? undefined : await payments.prices.retrieve(priceId);
  const sold = price && planOfPrice(price);
  const pack = price && packOf(price.lookup_key ?? price.metadata.price_id ?? "");
  return {
    plan_key: sold?.plan.key ?? null,
    billing_interval: sold?.interval ?? null,
    pack_key: pack?.key ?? null,
    period_start: line && sold ? fromUnix(line.period.start) : null,
    period_end: line && sold ? fromUnix(line.period.end) : null,
  };
}

/** The bank wants to ask the cardholder: while somebody is paying, or because a renewal was charged in their absence. */
function waitsForHolder({ status, last_payment_error: error }: Stripe.PaymentIntent): boolean {
  return status === "requires_action" || (status === "requires_payment_method" && error?.code === "authentication_required");
}

/** What became of the attempts to collect it. A bank debit is `processing` for days, and has not failed. */
async function readCollected({ payments }: BillingDeps, invoice: Stripe.Invoice): Promise<Collected> {
  const collected = { refunded_cents: 0, failed: false, needs_action: false, processing: false };
  if (!invoice.attempted) return collected;
  const expand = ["data.payment.payment_intent.latest_charge"];
  const { data } = await payments.invoicePayments.list({ invoice: invoice.id, limit: 10, expand });
  for (const { status, payment } of data) {
    const intent = typeof payment.payment_intent === "object" ? payment.payment_intent : undefined;
    const charge = typeof intent?.latest_charge === "object" ? intent.latest_charge : undefined;
    if (status === "paid") collected.refunded_cents += charge?.amount_refunded ?? 0;
    if (status === "open" && intent && waitsForHolder(intent)) collected.needs_action = true;
    if (status === "open" && invoice.status === "open" && intent?.status === "processing") collected.processing = true;
  }
  return { ...collected, failed: invoice.status === "open" && !collected.processing };
}

function isFinal(status: Stripe.Invoice["status"]): status is InvoiceRow["status"] {
  return status !== null && status !== "draft";
}

/** A draft is nobody's invoice yet. */
export function isIssued({ status }: Stripe.Invoice): boolean {
  return isFinal(status);
}

export interface MirroredInvoice {
  invoice: Stripe.Invoice;
  /** Undefined if it was not written: it is a draft or none of ours, or another process has just written it. */
  payerId: string | undefined;
}

/**
 * What of a transfer was taken back, or transferred back: Stripe knows of neither. Undefined if none of it was, or no transfer paid the invoice.
 */
export async function returnedByTransfer(executor: Executor, invoiceId: string): Promise<number | undefined> {
  const transfer = await selectTransferOf(executor, invoiceId);
  const returned = transfer && (await selectReturnOf(executor, invoiceId));
  if (!transfer || returned?.kind === "surplus") return undefined;
  if (transfer.reversed_at) return transfer.amount_cents;
  return returned?.done_at ? returned.amount_cents : undefined;
}

/** Reads the invoice from Stripe and writes what people see of it. Undefined if Stripe has none with this id. Safe to repeat. */
export async function mirrorInvoice(deps: BillingDeps, invoiceId: string): Promise<MirroredInvoice | undefined> {
  let read: Stripe.Invoice | undefined;
  const written = await writeReading(
    deps,
    invoiceId,
    async () => {
      const invoice = await orMissing(deps.payments.invoices.retrieve(invoiceId));
      read = invoice;
      const customerId = idOf(invoice?.customer);
      if (!invoice || !isFinal(invoice.status) || customerId === undefined) return undefined;
      const payerId = await findPayerOfCustomer(deps, customerId);
      if (payerId === undefined) return undefined;
      const known = await queries.selectInvoice(deps.db, invoiceId);
      const subject = known ?? (await readSubject(deps, invoice));
      const credit_notes = await readCreditNotes(deps, invoice);
      const collected = { ...(await readCollected(deps, invoice)), ...(await readTax(deps, invoice)), credit_notes };
      return { invoice, status: invoice.status, payerId, subject, collected };
    },
    async (trx, { invoice, status, payerId, subject, collected }) => {
      const { plan_key, billing_interval, pack_key, period_start, period_end } = subject;
      const byTransfer = await returnedByTransfer(trx, invoice.id);
      const row = {
        ...{ id: invoice.id, billing_account_id: payerId, number: invoice.number },
        stripe_subscription_id: idOf(invoice.parent?.subscription_details?.subscription) ?? null,
        ...{ plan_key, billing_interval, pack_key, period_start, period_end },
        ...{ total_cents: invoice.total, unpaid_cents: invoice.amount_remaining, status },
        ...collected,
        ...(byTransfer === undefined ? {} : { refunded_cents: byTransfer }),
        due_at: invoice.due_date === null ? null : fromUnix(invoice.due_date),
        issued_at: fromUnix(invoice.status_transitions.finalized_at ?? invoice.created),
        updated_at: deps.clock.now(),
      };
      await queries.saveInvoice(trx, row);
      // Stripe makes a plan's first invoice only when a card has paid or a debit is on its way. So if a first one failed, it was a debit.
      if (row.failed) await mailPaymentFailed(trx, row, graceEndOf(invoice), row.updated_at);
      if (status === "open" && row.due_at !== null) {
        const order = await selectUnpaidOrderOf(trx, row.stripe_subscription_id ?? "");
        const isFirst = invoice.billing_reason === "subscription_create";
        await mailTransferInvoice(trx, row, { order, isFirst, accessUntil: graceEndOf(invoice) }, row.updated_at);
      }
      return payerId;
    },
  );
  return read && { invoice: read, payerId: written };
}

/** Copies the invoice that a payment paid, with credit notes for the money of it that went back by these refunds. */
export async function mirrorInvoiceOfPayment(deps: BillingDeps, intentId: string, refunds: readonly Stripe.Refund[]): Promise<void> {
  const payment = { type: "payment_intent", payment_intent: intentId } as const;
  const { data } = await deps.payments.invoicePayments.list({ payment, limit: 10 });
  for (const { invoice } of data) {
    const invoiceId = idOf(invoice);
    if (invoiceId === undefined) continue;
    await creditRefunds(deps, invoiceId, refunds);
    await mirrorInvoice(deps, invoiceId);
  }
}

/** Copies the invoices that a customer had before there was our table. */
export async function mirrorEarlierInvoices(
  deps: BillingDeps,
  { payerId, customerId }: { payerId: string; customerId: string },
): Promise<void> {
  const invoices = await orMissing(deps.payments.invoices.list({ customer: customerId, limit: 100 }).autoPagingToArray({ limit: 1_000 }));
  for (const { id } of invoices ?? []) await mirrorInvoice(deps, id);
  await queries.markInvoicesRead(deps.db, payerId, deps.clock.now());
}
