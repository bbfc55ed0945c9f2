import { listOf } from "./api.ts";
import type { Context } from "./context.ts";
import { daySeconds } from "./context.ts";
import { discountCents } from "./coupons.ts";
import { emit } from "./events.ts";
import { newId } from "./ids.ts";
import type { DiscountAmount } from "./invoice-lines.ts";
import { orderLine, subscriptionLine } from "./invoice-lines.ts";
import { itemOf } from "./subscription-status.ts";
import { shownTaxIds } from "./tax-ids.ts";
import { invoiceTax, withTax } from "./tax-rates.ts";
import type { Customer, Discount, Invoice, InvoiceLine, LineItem, Subscription } from "./wire.ts";

interface NewInvoice {
  customer: Customer;
  subscription: Subscription;
  reason: "subscription_create" | "subscription_cycle" | "subscription_update" | "upcoming";
  discounts: Discount[];
  /** When Stripe finalises the draft by itself, in Unix seconds; null if the caller does so at once. */
  finalizesAt: number | null;
  /** The start of the period before the invoice, which its `period_start` shows; for a first invoice its own date. */
  periodStart: number;
}

interface NewOrderInvoice {
  customer: Customer;
  currency: string;
  items: LineItem[];
  discounts: Discount[];
  description: string | null;
  footer: string | null;
  metadata: Record<string, string>;
  taxed: boolean;
}

/** Applies the discounts one after another, each to the rest that the earlier ones left. */
function discountAmounts(context: Context, discounts: readonly Discount[], subtotalCents: number): DiscountAmount[] {
  let leftCents = subtotalCents;
  return discounts.map((discount) => {
    const coupon = typeof discount.source.coupon === "string" ? context.store.find("coupon", discount.source.coupon) : undefined;
    const amount = coupon ? discountCents(coupon, leftCents) : 0;
    leftCents -= amount;
    return { amount, discount: discount.id };
  });
}

/** Shipping, credit notes and the like: parts of an invoice that the product does not use. */
const unused = {
  account_country: "US",
  account_name: "Tessera",
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_shipping: 0,
  application: null,
  custom_fields: null,
  customer_account: null,
  customer_address: null,
  customer_shipping: null,
  customer_tax_exempt: "none",
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
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

interface Draft {
  id: string;
  customer: Customer;
  currency: string;
  lines: InvoiceLine[];
  discounts: DiscountAmount[];
  finalizesAt: number | null;
  /** The days in which it is to be paid by transfer; null: Stripe charges a card. */
  daysUntilDue: number | null;
  /** Stripe Tax calculates it. */
  taxed: boolean;
  own: Pick<Invoice, "billing_reason" | "description" | "footer" | "metadata" | "parent" | "period_start">;
}

function buildDraft(context: Context, { id, customer, currency, lines, discounts, finalizesAt, daysUntilDue, taxed, own }: Draft): Invoice {
  const subtotal = lines.reduce((sum, line) => sum + line.amount, 0);
  const total = subtotal - discounts.reduce((sum, discount) => sum + discount.amount, 0);
  const draft: Invoice = {
    id,
    object: "invoice",
    ...unused,
    ...own,
    automatic_tax: invoiceTax(taxed),
    amount_due: total,
    amount_paid: 0,
    amount_remaining: total,
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    automatically_finalizes_at: finalizesAt,
    collection_method: daysUntilDue === null ? "charge_automatically" : "send_invoice",
    due_date: daysUntilDue === null ? null : context.now() + daysUntilDue * daySeconds,
    created: context.now(),
    currency,
    customer: customer.id,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: customer.phone ?? null,
    customer_tax_ids: shownTaxIds(context, customer.id),
    discounts: discounts.map(({ discount }) => discount),
    effective_at: null,
    ending_balance: null,
    hosted_invoice_url: null,
    lines: listOf(lines, `/v1/invoices/${id}/lines`),
    livemode: false,
    next_payment_attempt: daysUntilDue === null ? finalizesAt : null,
    number: null,
    period_end: context.now(),
    status: "draft",
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal,
    subtotal_excluding_tax: subtotal,
    total,
    total_discount_amounts: discounts,
    total_excluding_tax: total,
    webhooks_delivered_at: context.now(),
  };
  return withTax(draft, context);
}

/** Stores a draft and emits `invoice.created`. */
function createDraft(context: Context, draft: Draft): Invoice {
  const invoice = context.store.insert("invoice", buildDraft(context, draft));
  context.store.hide("invoice", invoice.id, { firstAttemptAt: null, refusedCard: null });
  emit(context, "invoice.created", invoice);
  if (draft.finalizesAt !== null) context.store.plan(invoice.id, "finalize_invoice", draft.finalizesAt);
  return invoice;
}

/** The draft for the subscription's current period. */
export function createInvoice(context: Context, fields: NewInvoice): Invoice {
  return createDraft(context, subscriptionDraft(context, fields));
}

/** Tells of an invoice that does not exist yet. The type has an id, though Stripe sends none. */
export function announceUpcoming(context: Context, fields: NewInvoice, at: number): void {
  const { id: _none, ...upcoming } = buildDraft({ ...context, now: () => at }, subscriptionDraft(context, fields));
  emit(context, "invoice.upcoming", upcoming as Invoice);
}

function subscriptionDraft(context: Context, fields: NewInvoice): Draft {
  const { customer, subscription, finalizesAt } = fields;
  const id = newId("in");
  const item = itemOf(subscription);
  const discounts = discountAmounts(context, fields.discounts, (item.price.unit_amount ?? 0) * (item.quantity ?? 1));
  const lines = [subscriptionLine(context, id, subscription, discounts)];
  const own = {
    billing_reason: fields.reason,
    description: null,
    footer: null,
    metadata: {},
    parent: {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: "subscription_details" as const,
    },
    period_start: fields.periodStart,
  };
  const { currency, days_until_due: daysUntilDue } = subscription;
  const taxed = subscription.automatic_tax.enabled;
  return { id, customer, currency, lines, discounts, finalizesAt, daysUntilDue, taxed, own };
}

/** The draft for what was bought once in a checkout; the caller finalises it. */
export function createOrderInvoice(context: Context, fields: NewOrderInvoice): Invoice {
  const { customer, currency, items, description, footer, metadata, taxed } = fields;
  const id = newId("in");
  const [discount] = fields.discounts;
  const lines = items.map((item) => orderLine(context, id, item, discount?.id ?? null));
  const off = items.reduce((sum, item) => sum + item.amount_discount, 0);
  const discounts = discount ? [{ amount: off, discount: discount.id }] : [];
  const own = { billing_reason: "manual" as const, description, footer, metadata, parent: null, period_start: context.now() };
  return createDraft(context, { id, customer, currency, lines, discounts, finalizesAt: null, daysUntilDue: null, taxed, own });
}
