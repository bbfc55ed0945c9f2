import { listOf } from "./api.ts";
import type { Context } from "./context.ts";
import { discountCents } from "./coupons.ts";
import { emit } from "./events.ts";
import { newId } from "./ids.ts";
import { itemOf } from "./subscription-status.ts";
import type { Customer, Discount, Invoice, InvoiceLine, Price, Subscription } from "./wire.ts";

interface NewInvoice {
  customer: Customer;
  subscription: Subscription;
  reason: "subscription_create" | "subscription_cycle" | "subscription_update";
  discounts: Discount[];
  /** When Stripe finalises the draft by itself, in Unix seconds; null if the caller does so at once. */
  finalizesAt: number | null;
  /** The start of the period before the invoice, which its `period_start` shows; for a first invoice its own date. */
  periodStart: number;
}

function money(cents: number, currency: string): string {
  return new Intl.NumberFormat("en-US", { style: "currency", currency }).format(cents / 100);
}

export function describePrice(context: Context, price: Price, quantity: number): string {
  const product = typeof price.product === "string" ? context.store.find("product", price.product) : undefined;
  const every = price.recurring
    ? ` / ${price.recurring.interval_count > 1 ? `${price.recurring.interval_count} ${price.recurring.interval}s` : price.recurring.interval}`
    : "";
  return `${quantity} × ${product?.name ?? "Item"} (at ${money(price.unit_amount ?? 0, price.currency)}${every})`;
}

/** Applies the discounts one after another, each to the rest that the earlier ones left. */
function discountAmounts(context: Context, discounts: readonly Discount[], subtotalCents: number): { amount: number; discount: string }[] {
  let leftCents = subtotalCents;
  return discounts.map((discount) => {
    const coupon = typeof discount.source.coupon === "string" ? context.store.find("coupon", discount.source.coupon) : undefined;
    const amount = coupon ? discountCents(coupon, leftCents) : 0;
    leftCents -= amount;
    return { amount, discount: discount.id };
  });
}

function createLine(
  context: Context,
  invoiceId: string,
  subscription: Subscription,
  discounts: { amount: number; discount: string }[],
): InvoiceLine {
  const item = itemOf(subscription);
  const quantity = item.quantity ?? 1;
  const amount = (item.price.unit_amount ?? 0) * quantity;
  return {
    id: newId("il"),
    object: "line_item",
    amount,
    currency: subscription.currency,
    description: describePrice(context, item.price, quantity),
    discount_amounts: discounts,
    discountable: true,
    discounts: [],
    invoice: invoiceId,
    livemode: false,
    metadata: subscription.metadata,
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: false,
        proration_details: { credited_items: null },
        subscription: subscription.id,
        subscription_item: item.id,
      },
      type: "subscription_item_details",
    },
    period: { start: item.current_period_start, end: item.current_period_end },
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: item.price.id, product: typeof item.price.product === "string" ? item.price.product : item.price.product.id },
      type: "price_details",
      unit_amount_decimal: item.price.unit_amount_decimal,
    },
    quantity,
    quantity_decimal: String(quantity),
    subscription: subscription.id,
    subtotal: amount,
    taxes: [],
  };
}

/** Taxes, shipping, credit notes and the like: parts of an invoice that the product does not use. */
const unused = {
  account_country: "US",
  account_name: "Tessera",
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_shipping: 0,
  application: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
  custom_fields: null,
  customer_account: null,
  customer_address: null,
  customer_shipping: null,
  customer_tax_exempt: "none",
  customer_tax_ids: [],
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  due_date: null,
  footer: null,
  from_invoice: null,
  invoice_pdf: null,
  issuer: { type: "self" },
  last_finalization_error: null,
  latest_revision: null,
  on_behalf_of: null,
  payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  starting_balance: 0,
  statement_descriptor: null,
  test_clock: null,
  total_pretax_credit_amounts: [],
  total_taxes: [],
} satisfies Partial<Invoice>;

/** Creates the draft for the subscription's current period and emits `invoice.created`. */
export function createInvoice(context: Context, fields: NewInvoice): Invoice {
  const { customer, subscription } = fields;
  const id = newId("in");
  const item = itemOf(subscription);
  const subtotal = (item.price.unit_amount ?? 0) * (item.quantity ?? 1);
  const discounts = discountAmounts(context, fields.discounts, subtotal);
  const total = subtotal - discounts.reduce((sum, discount) => sum + discount.amount, 0);
  const invoice: Invoice = {
    id,
    object: "invoice",
    ...unused,
    amount_due: total,
    amount_paid: 0,
    amount_remaining: total,
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    automatically_finalizes_at: fields.finalizesAt,
    billing_reason: fields.reason,
    collection_method: "charge_automatically",
    created: context.now(),
    currency: subscription.currency,
    customer: customer.id,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: customer.phone ?? null,
    discounts: fields.discounts.map((discount) => discount.id),
    effective_at: null,
    ending_balance: null,
    hosted_invoice_url: null,
    lines: listOf([createLine(context, id, subscription, discounts)], `/v1/invoices/${id}/lines`),
    livemode: false,
    metadata: {},
    next_payment_attempt: fields.finalizesAt,
    number: null,
    parent: {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: "subscription_details",
    },
    period_end: context.now(),
    period_start: fields.periodStart,
    status: "draft",
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal,
    subtotal_excluding_tax: subtotal,
    total,
    total_discount_amounts: discounts,
    total_excluding_tax: total,
    webhooks_delivered_at: context.now(),
  };
  context.store.insert("invoice", invoice);
  context.store.hide("invoice", id, { firstAttemptAt: null });
  emit(context, "invoice.created", invoice);
  if (fields.finalizesAt !== null) context.store.plan(id, "finalize_invoice", fields.finalizesAt);
  return invoice;
}
