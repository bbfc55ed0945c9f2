/** What Stripe Tax calculates: where a customer is, whether tax is collected there, and how much of a price that includes it is tax. */
import type { Context } from "./context.ts";
import { invalidRequest, notPlayed } from "./errors.ts";
import { newId } from "./ids.ts";
import type { ShownTaxId } from "./tax-ids.ts";
import { isReverseCharged, shownTaxIds } from "./tax-ids.ts";
import { countryOf, percentages, regionNames } from "./tax-places.ts";
import { isCollecting, taxSettings } from "./tax-settings.ts";
import type { Customer, Invoice, InvoiceLine, Price, TaxRate } from "./wire.ts";

/** The field `tax` of a customer, which Stripe leaves out unless `expand` names it. */
export function taxOfCustomer(context: Context, customer: Customer): NonNullable<Customer["tax"]> {
  const country = countryOf(customer.address);
  const automatic = country === undefined ? "unrecognized_location" : isCollecting(context, country) ? "supported" : "not_collecting";
  return {
    automatic_tax: automatic,
    ip_address: null,
    location: country === undefined ? null : { country, source: "billing_address", state: customer.address?.state ?? null },
    provider: "stripe",
  };
}

/** Throws Stripe's 400 unless tax can be calculated for this price. Prices that tax is added to are not played. */
export function requireTaxable(context: Context, price: Price, param: string): void {
  const { status, defaults } = taxSettings(context);
  if (status !== "active")
    throw invalidRequest(
      "You must have a valid head office address to enable automatic tax calculation in test mode. Visit https://dashboard.stripe.com/test/settings/tax to update it.",
      "automatic_tax[enabled]",
    );
  const behaviour = price.tax_behavior === "unspecified" ? defaults.tax_behavior : price.tax_behavior;
  if (behaviour === null)
    throw invalidRequest(
      `The price ${price.id} has no tax_behavior and the account no default for it. Automatic tax needs to know whether a price includes tax.`,
      param,
    );
  if (behaviour !== "inclusive") throw notPlayed("automatic_tax", "tax that the price includes: give the price tax_behavior=inclusive");
}

export function locationInvalid(message: string, param: string) {
  return invalidRequest(message, param, "customer_tax_location_invalid");
}

/** Throws Stripe's 400 unless the customer's address says where tax is due. */
export function requireLocation(customer: Customer): void {
  if (countryOf(customer.address) !== undefined) return;
  throw locationInvalid(
    "The customer's location isn't recognized. Set a valid customer address in order to automatically calculate tax.",
    "automatic_tax",
  );
}

function rateOf(context: Context, country: string, percentage: number): TaxRate {
  const [known] = context.store.where("tax_rate", [
    { path: "country", operator: "=", value: country },
    { path: "percentage", operator: "=", value: percentage },
  ]);
  if (known) return known;
  return context.store.insert("tax_rate", {
    id: newId("txr"),
    object: "tax_rate",
    // Stripe's own rates can't be used by hand.
    active: false,
    country,
    created: context.now(),
    description: null,
    display_name: "VAT",
    effective_percentage: percentage,
    flat_amount: null,
    inclusive: true,
    jurisdiction: regionNames.of(country) ?? country,
    jurisdiction_level: "country",
    livemode: false,
    metadata: {},
    percentage,
    rate_type: "percentage",
    state: null,
    tax_type: "vat",
  });
}

/** The share of `grossCents` that is tax, half a cent rounded up. */
function sharedCents(grossCents: number, percentage: number): number {
  return Math.round((grossCents * percentage) / (100 + percentage));
}

type LineTax = NonNullable<InvoiceLine["taxes"]>[number];

/** The tax within `grossCents` for somebody in `country`. A business that owes the tax itself pays the same price, without tax in it. */
export function taxWithin(context: Context, country: string, grossCents: number, taxIds: readonly ShownTaxId[]): LineTax {
  const reversed = isReverseCharged(context, country, taxIds);
  const collecting = isCollecting(context, country);
  const rate = rateOf(context, country, collecting && !reversed ? (percentages[country] ?? 0) : 0);
  const amount = sharedCents(grossCents, rate.percentage);
  return {
    amount,
    tax_behavior: "inclusive",
    tax_rate_details: { tax_rate: rate.id },
    taxability_reason: !collecting ? "not_collecting" : reversed ? "reverse_charge" : "standard_rated",
    taxable_amount: collecting ? grossCents - amount : 0,
    type: "tax_rate_details",
  };
}

const self = { type: "self" } as const;

/** The draft with its tax as it is now. Without a location Stripe doesn't know it yet. */
export function withTax(invoice: Invoice, context: Context): Invoice {
  if (!invoice.automatic_tax.enabled) return invoice;
  const customer = context.store.find("customer", String(invoice.customer));
  const country = countryOf(customer?.address);
  if (country === undefined)
    return { ...invoice, automatic_tax: { ...invoice.automatic_tax, status: "requires_location_inputs" }, ...untaxed(invoice) };
  const taxIds = shownTaxIds(context, String(invoice.customer));
  const lines = invoice.lines.data.map((line) => {
    const off = (line.discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
    return { ...line, taxes: [taxWithin(context, country, line.amount - off, taxIds)] };
  });
  const taxes = lines.flatMap((line) => line.taxes);
  const [first] = taxes;
  const sum = (of: (tax: LineTax) => number) => taxes.reduce((total, tax) => total + of(tax), 0);
  const percentage = first ? (context.store.find("tax_rate", first.tax_rate_details?.tax_rate ?? "")?.percentage ?? 0) : 0;
  return {
    ...invoice,
    automatic_tax: { ...invoice.automatic_tax, status: "complete" },
    customer_address: customer?.address ?? null,
    lines: { ...invoice.lines, data: lines },
    subtotal_excluding_tax: invoice.subtotal - sharedCents(invoice.subtotal, percentage),
    total_excluding_tax: invoice.total - sum(({ amount }) => amount),
    total_taxes: first ? [{ ...first, amount: sum(({ amount }) => amount), taxable_amount: sum((tax) => tax.taxable_amount ?? 0) }] : [],
  };
}

/** A draft whose tax is not known. */
function untaxed(invoice: Invoice) {
  const lines = { ...invoice.lines, data: invoice.lines.data.map((line) => ({ ...line, taxes: [] })) };
  return { lines, subtotal_excluding_tax: invoice.subtotal, total_excluding_tax: invoice.total, total_taxes: [] };
}

/** Calculates the tax for the last time. If Stripe doesn't know where the customer is, it goes on without tax, and says so. */
export function settleTax(invoice: Invoice, context: Context): Invoice {
  const taxed = withTax(invoice, context);
  if (taxed.automatic_tax.status !== "requires_location_inputs") return taxed;
  const automatic = { disabled_reason: "finalization_requires_location_inputs", enabled: false, liability: null, provider: null } as const;
  return { ...taxed, automatic_tax: { ...automatic, status: null } };
}

export const taxOff = { disabled_reason: null, enabled: false, liability: null } as const;
export const taxOn = { disabled_reason: null, enabled: true, liability: self } as const;

export function invoiceTax(enabled: boolean): Invoice["automatic_tax"] {
  return enabled ? { ...taxOn, provider: "stripe", status: null } : { ...taxOff, provider: null, status: null };
}
