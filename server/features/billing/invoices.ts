/** A person's invoices, and the links to what Stripe has of each. The list is our own; a link is asked of Stripe when somebody follows it. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import { packOf, planList, plans } from "#domain/plans.ts";
import type { Invoice, InvoiceDocument, InvoicePage, InvoiceState } from "../../contract/billing/invoices.ts";
import type { SubscriptionCheck } from "../../contract/billing/subscription.ts";
import { parseCursor, toCursor } from "../../db/cursors.ts";
import type { Executor } from "../../db/transaction.ts";
import type { InvoiceRow, SubscriptionRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { orUnavailable } from "../../providers/stripe.ts";
import { askForEarlierInvoices } from "./earlier-invoices.ts";
import type { InvoicePlace, ListedInvoice } from "./invoice-queries.ts";
import * as queries from "./invoice-queries.ts";

const usualPage = 12;

function stateOf({ status, needs_action, failed, processing, refunded_cents, total_cents }: InvoiceRow): InvoiceState {
  if (status === "open" && processing) return "processing";
  if (status === "open" && needs_action) return "action";
  if (status === "open" && failed) return "failed";
  return status === "paid" && refunded_cents > 0 && refunded_cents >= total_cents ? "refunded" : status;
}

const isRefunded = sql<boolean>`refunded_cents > 0 and refunded_cents >= total_cents`;

/** The same as a condition. */
export function hasState(state: InvoiceState): RawBuilder<boolean> {
  switch (state) {
    case "processing":
      return sql`status = 'open' and processing`;
    case "action":
      return sql`status = 'open' and needs_action and not processing`;
    case "failed":
      return sql`status = 'open' and failed and not needs_action and not processing`;
    case "open":
      return sql`status = 'open' and not failed and not needs_action and not processing`;
    case "refunded":
      return sql`status = 'paid' and ${isRefunded}`;
    case "paid":
      return sql`status = 'paid' and not (${isRefunded})`;
    default:
      return sql`status = ${state}`;
  }
}

function subjectOf({ plan_key, billing_interval, pack_key, period_start, period_end }: InvoiceRow): Invoice["subject"] {
  const plan = planList.find(({ key }) => key === plan_key);
  if (plan && billing_interval && period_start && period_end)
    return { kind: "plan", plan: plan.key, interval: billing_interval, from: period_start.toISOString(), until: period_end.toISOString() };
  const pack = packOf(pack_key ?? "");
  return pack ? { kind: "pack", credits: pack.credits } : { kind: "other" };
}

export function toInvoice(row: ListedInvoice): Invoice {
  const { id, number, issued_at, total_cents, refunded_cents } = row;
  const figures = { totalCents: total_cents, refundedCents: refunded_cents };
  const tax = row.tax_cents === null ? null : { cents: row.tax_cents, percent: row.tax_percent };
  const shown = { subject: subjectOf(row), ...figures, state: stateOf(row), transferReference: row.transfer_reference };
  const creditNotes = row.credit_notes;
  return { id, number, issuedAt: issued_at.toISOString(), ...shown, creditNotes, tax, addressMissing: row.tax_location_missing };
}

function placeAt(cursor: string): InvoicePlace {
  return parseCursor(cursor, ([at = "", id = "", ...rest]) => {
    const issuedAt = new Date(at);
    return Number.isNaN(issuedAt.getTime()) || id === "" || rest.length > 0 ? undefined : { issuedAt, id };
  });
}

/** One page of the list, newest first; `cursor` is the `nextCursor` of the page before. */
export async function readInvoices(
  executor: Executor,
  userId: string,
  { cursor, limit = usualPage }: { cursor?: string; limit?: number },
): Promise<InvoicePage> {
  const before = cursor === undefined ? undefined : placeAt(cursor);
  const rows = await queries.selectInvoices(executor, userId, { before, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    reading: cursor === undefined && (await askForEarlierInvoices(executor, userId)),
    invoices: page.map(toInvoice),
    nextCursor: rows.length > limit && last ? toCursor(last.issued_at.toISOString(), last.id) : null,
  };
}

/** What is owed for a subscription that is unpaid, or whose renewal waits for a bank transfer. */
export async function readUnpaid(
  executor: Executor,
  subscription: SubscriptionRow | undefined,
): Promise<Pick<SubscriptionCheck, "unpaid">> {
  if (!subscription) return {};
  const isUnpaid = subscription.status === "past_due" || subscription.status === "incomplete" || subscription.status === "suspended";
  // A card is charged within hours, so its renewal needs no notice. An invoice to be paid by transfer does: no credits come before.
  const maySend = subscription.status === "active" && subscription.plan_key === plans.enterprise.key;
  if (!isUnpaid && !maySend) return {};
  const { user_id: userId, stripe_subscription_id: subscriptionId, grace_until: until } = subscription;
  const row = await queries.selectOpenInvoice(executor, userId, subscriptionId);
  if (!row || (!isUnpaid && row.due_at === null)) return {};
  const { id, unpaid_cents: amountCents, needs_action: needsAction, processing, due_at: dueAt } = row;
  // The days of grace of a plan on hold give no access.
  const accessUntil = subscription.status === "suspended" ? null : (until?.toISOString() ?? null);
  const byTransfer = dueAt === null ? {} : { dueAt: dueAt.toISOString() };
  return { unpaid: { invoiceId: id, amountCents, until: accessUntil, needsAction, processing, ...byTransfer } };
}

async function receiptOf({ payments }: Pick<Deps, "payments">, invoiceId: string): Promise<string | undefined> {
  const expand = ["data.payment.payment_intent.latest_charge"];
  const { data } = await payments.invoicePayments.list({ invoice: invoiceId, status: "paid", limit: 10, expand });
  return data
    .flatMap(({ payment: { payment_intent: intent } }) => {
      const charge = typeof intent === "object" ? intent.latest_charge : null;
      return typeof charge === "object" ? (charge?.receipt_url ?? []) : [];
    })
    .at(0);
}

type WantedDocument = { document: InvoiceDocument } | { creditNote: string };

/** Throws `not_found` for an invoice that is not the person's or has no such document, and `payment_provider_unavailable`. */
export async function linkToInvoice(
  deps: Pick<Deps, "db" | "payments" | "log">,
  userId: string,
  { id, wanted }: { id: string; wanted: WantedDocument },
): Promise<{ url: string }> {
  const own = await queries.selectOwnInvoice(deps.db, userId, id);
  if (!own) throw new DomainError("not_found", "There is nothing here");
  if ("creditNote" in wanted && !own.credit_notes.some((note) => note.id === wanted.creditNote))
    throw new DomainError("not_found", "There is nothing here");
  const url = await orUnavailable(deps.log, async () => {
    if ("creditNote" in wanted) return (await deps.payments.creditNotes.retrieve(wanted.creditNote)).pdf;
    const { document } = wanted;
    const invoice = await deps.payments.invoices.retrieve(own.id);
    if (document === "pdf") return invoice.invoice_pdf;
    // The page of an invoice that was paid outside Stripe has its receipt, too.
    const receipt = document === "receipt" ? await receiptOf(deps, own.id) : undefined;
    return receipt ?? invoice.hosted_invoice_url;
  });
  if (!url) throw new DomainError("not_found", "There is nothing here");
  return { url };
}
