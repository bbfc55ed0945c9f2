/** The paid invoices of a subscription, with what each of their lines sells and the charge that paid them. */
import type Stripe from "stripe";
import type { Deps } from "../../deps.ts";
import { idOf } from "../../providers/stripe.ts";
import type { InvoiceLine, PaidInvoice } from "./grant-invoice.ts";
import * as queries from "./queries.ts";
import type { KnownPrices } from "./stripe-catalogue.ts";
import { planOfPrice } from "./stripe-catalogue.ts";

type BillingDeps = Pick<Deps, "db" | "payments">;

/** Returns all lines; an invoice itself has only its first ten. */
async function allLines({ payments }: BillingDeps, invoice: Stripe.Invoice): Promise<Stripe.InvoiceLineItem[]> {
  if (!invoice.lines.has_more) return invoice.lines.data;
  return payments.invoices.listLineItems(invoice.id, { limit: 100 }).autoPagingToArray({ limit: 1_000 });
}

async function readLine(line: Stripe.InvoiceLineItem, prices: KnownPrices): Promise<InvoiceLine> {
  const priceId = idOf(line.pricing?.price_details?.price) ?? null;
  const details = line.parent?.subscription_item_details ?? line.parent?.invoice_item_details;
  return {
    id: line.id,
    priceId,
    sold: priceId === null ? undefined : planOfPrice(await prices.get(priceId)),
    proration: details?.proration ?? false,
    amountCents: line.amount,
    period: line.period,
  };
}

async function chargeOf({ payments }: BillingDeps, invoice: Stripe.Invoice): Promise<string | null> {
  if (invoice.amount_paid === 0) return null;
  const expand = ["data.payment.payment_intent"];
  const { data } = await payments.invoicePayments.list({ invoice: invoice.id, status: "paid", limit: 10, expand });
  const charges = data.flatMap(({ payment }) => {
    const intent = typeof payment.payment_intent === "object" ? payment.payment_intent : undefined;
    return idOf(payment.charge) ?? idOf(intent?.latest_charge) ?? [];
  });
  return charges[0] ?? null;
}

/** Reads what the lines of a paid invoice sell, and its charge. */
export async function readPaidInvoice(deps: BillingDeps, invoice: Stripe.Invoice, prices: KnownPrices): Promise<PaidInvoice> {
  const lines: InvoiceLine[] = [];
  for (const line of await allLines(deps, invoice)) lines.push(await readLine(line, prices));
  return { invoice, lines, chargeId: await chargeOf(deps, invoice) };
}

/** Reads the subscription's paid invoices that are not recorded yet, oldest first. */
export async function readUnrecordedInvoices(deps: BillingDeps, subscriptionId: string, prices: KnownPrices): Promise<PaidInvoice[]> {
  const page = await deps.payments.invoices.list({ subscription: subscriptionId, status: "paid", limit: 100 });
  const paid = page.data.filter((invoice) => invoice.status === "paid");
  const recorded = await queries.selectRecordedInvoices(
    deps.db,
    paid.map((invoice) => invoice.id),
  );
  const open = paid.filter((invoice) => !recorded.has(invoice.id)).sort((left, right) => left.created - right.created);
  const read: PaidInvoice[] = [];
  for (const invoice of open) read.push(await readPaidInvoice(deps, invoice, prices));
  return read;
}
