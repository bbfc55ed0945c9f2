/**
 * Tax by Stripe Tax, where the operator switches it on with STRIPE_TAX=included (decision 66). Prices include the tax, so nobody pays more or
 * less with it: what is said is how much of a payment is tax.
 */
import type Stripe from "stripe";
import type { Config } from "../../config.ts";
import { payerOf } from "../../db/payer.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Payments } from "../../providers/stripe.ts";

type Switch = Pick<Config["stripe"], "tax">;

/** Stripe's code for software as a service for personal use: plans, and packs of their credits. */
export const taxCode = "txcd_10103000";

export function isTaxed({ tax }: Switch): boolean {
  return tax === "included";
}

/** For new subscriptions that no checkout begins. */
export function subscriptionTax(config: Switch) {
  return isTaxed(config) ? { automatic_tax: { enabled: true } } : {};
}

/**
 * Checkout asks for as much of the billing address as tax needs, and the customer keeps it for renewals. A business may give its tax id and name:
 * Stripe shows both on its invoices, and calculates no tax where the business owes it.
 */
export function checkoutTax(
  config: Switch,
): Pick<Stripe.Checkout.SessionCreateParams, "automatic_tax" | "billing_address_collection" | "customer_update" | "tax_id_collection"> {
  if (!isTaxed(config)) return {};
  return {
    ...subscriptionTax(config),
    billing_address_collection: "auto",
    tax_id_collection: { enabled: true },
    // Stripe takes no tax id of a customer whose name it may not set.
    customer_update: { address: "auto", name: "auto" },
  };
}

export interface InvoiceTax {
  /** Null: Stripe calculated none. */
  tax_cents: number | null;
  /** The rate of value added tax in percent, where the whole invoice has one; else null. */
  tax_percent: number | null;
  /** Stripe went on without tax, because it doesn't know where the customer lives. */
  tax_location_missing: boolean;
}

/** Stripe's own rates never change: a new percentage is a new rate. */
const rates = new WeakMap<Payments, Map<string, Stripe.TaxRate>>();

async function rateOf(payments: Payments, id: string): Promise<Stripe.TaxRate> {
  const known = rates.get(payments) ?? new Map<string, Stripe.TaxRate>();
  rates.set(payments, known);
  const rate = known.get(id) ?? (await payments.taxRates.retrieve(id));
  known.set(id, rate);
  return rate;
}

/** The tax within an invoice that Stripe calculated tax for. */
export async function readTax({ payments }: Pick<Deps, "payments">, invoice: Stripe.Invoice): Promise<InvoiceTax> {
  const { automatic_tax: automatic, total_taxes: taxes } = invoice;
  const missing = automatic.disabled_reason === "finalization_requires_location_inputs";
  if (!automatic.enabled || automatic.status !== "complete") return { tax_cents: null, tax_percent: null, tax_location_missing: missing };
  const all = taxes ?? [];
  const [only] = all;
  const id = all.length === 1 ? only?.tax_rate_details?.tax_rate : undefined;
  const rate = id === undefined ? undefined : await rateOf(payments, id);
  const isVat = rate?.tax_type === "vat" && rate.percentage > 0 && only?.taxability_reason === "standard_rated";
  return {
    tax_cents: all.reduce((sum, { amount }) => sum + amount, 0),
    tax_percent: isVat ? rate.percentage : null,
    tax_location_missing: missing,
  };
}

/** What an order or a change of plan says of the tax in its price; null: there is none. The rate is that of the newest invoice, if there is one. */
export async function taxShown(executor: Executor, config: Switch, userId: string): Promise<{ percent: number | null } | null> {
  if (!isTaxed(config)) return null;
  const row = await executor
    .selectFrom("invoices")
    .select("tax_percent")
    .where("billing_account_id", "=", payerOf(userId))
    .where("tax_cents", "is not", null)
    .orderBy("issued_at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return { percent: row?.tax_percent ?? null };
}

/** How much of a payment was tax, for a mail; nothing where Stripe calculated none. */
export function taxIn(invoice: Pick<Stripe.Invoice, "automatic_tax" | "total_taxes"> | null): { taxCents?: number } {
  if (!invoice?.automatic_tax.enabled || invoice.automatic_tax.status !== "complete") return {};
  return { taxCents: (invoice.total_taxes ?? []).reduce((sum, { amount }) => sum + amount, 0) };
}
