import type { Context } from "./context.ts";
import { newId } from "./ids.ts";
import { itemOf } from "./subscription-status.ts";
import type { InvoiceLine, LineItem, Price, Subscription } from "./wire.ts";

/** What one discount takes off, in cents. */
export interface DiscountAmount {
  amount: number;
  discount: string;
}

function money(cents: number, currency: string): string {
  return new Intl.NumberFormat("en-US", { style: "currency", currency }).format(cents / 100);
}

function describePrice(context: Context, price: Price, quantity: number): string {
  const product = typeof price.product === "string" ? context.store.find("product", price.product) : undefined;
  const every = price.recurring
    ? ` / ${price.recurring.interval_count > 1 ? `${price.recurring.interval_count} ${price.recurring.interval}s` : price.recurring.interval}`
    : "";
  return `${quantity} × ${product?.name ?? "Item"} (at ${money(price.unit_amount ?? 0, price.currency)}${every})`;
}

/** What the lines of a period and of a single order have alike. */
function buildLine(
  { price, quantity }: { price: Price; quantity: number },
  fields: Pick<
    InvoiceLine,
    "amount" | "currency" | "description" | "discount_amounts" | "invoice" | "metadata" | "parent" | "period" | "subscription"
  >,
): InvoiceLine {
  return {
    id: newId("il"),
    object: "line_item",
    discountable: true,
    discounts: [],
    livemode: false,
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: price.id, product: typeof price.product === "string" ? price.product : price.product.id },
      type: "price_details",
      unit_amount_decimal: price.unit_amount_decimal,
    },
    quantity,
    quantity_decimal: String(quantity),
    subtotal: fields.amount,
    taxes: [],
    ...fields,
  };
}

/** The subscription's current period. */
export function subscriptionLine(
  context: Context,
  invoiceId: string,
  subscription: Subscription,
  discounts: DiscountAmount[],
): InvoiceLine {
  const item = itemOf(subscription);
  const quantity = item.quantity ?? 1;
  return buildLine(
    { price: item.price, quantity },
    {
      amount: (item.price.unit_amount ?? 0) * quantity,
      currency: subscription.currency,
      description: describePrice(context, item.price, quantity),
      discount_amounts: discounts,
      invoice: invoiceId,
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
      subscription: subscription.id,
    },
  );
}

/** What was bought once. */
export function orderLine(context: Context, invoiceId: string, item: LineItem, discount: string | null): InvoiceLine {
  const { price } = item;
  if (!price) throw new Error(`line ${item.id} has no price`);
  return buildLine(
    { price, quantity: item.quantity ?? 1 },
    {
      amount: item.amount_subtotal,
      currency: item.currency,
      description: item.description,
      discount_amounts: discount === null ? [] : [{ amount: item.amount_discount, discount }],
      invoice: invoiceId,
      metadata: {},
      parent: {
        invoice_item_details: {
          invoice_item: newId("ii"),
          proration: false,
          proration_details: { credited_items: null },
          subscription: null,
        },
        subscription_item_details: null,
        type: "invoice_item_details",
      },
      period: { start: context.now(), end: context.now() },
      subscription: null,
    },
  );
}
