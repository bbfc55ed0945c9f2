import type { Settings } from "./checkout-read.ts";
import type { Context } from "./context.ts";
import { discountCents } from "./coupons.ts";
import { newId } from "./ids.ts";
import type { HiddenKinds } from "./kinds.ts";
import { methodTypesFor } from "./payment-methods.ts";
import type { CheckoutSession, Coupon, LineItem, Price } from "./wire.ts";

/** Distributes the discounts over the lines; the last line gets the cents left by rounding. */
export function buildLineItems(
  context: Context,
  lines: readonly { price: Price; quantity: number }[],
  coupon: Coupon | undefined,
): LineItem[] {
  const subtotals = lines.map((line) => (line.price.unit_amount ?? 0) * line.quantity);
  const subtotal = subtotals.reduce((sum, amount) => sum + amount, 0);
  const discount = coupon ? discountCents(coupon, subtotal) : 0;
  let left = discount;
  return lines.map((line, index) => {
    const amount = subtotals[index] ?? 0;
    const share = index === lines.length - 1 ? left : Math.floor((discount * amount) / Math.max(1, subtotal));
    left -= share;
    const product = context.store.find("product", String(line.price.product));
    return {
      id: newId("li"),
      object: "item",
      adjustable_quantity: null,
      amount_discount: share,
      amount_subtotal: amount,
      amount_tax: 0,
      amount_total: amount - share,
      currency: line.price.currency,
      description: product?.name ?? null,
      metadata: {},
      price: line.price,
      quantity: line.quantity,
    };
  });
}

export interface SessionFields {
  id: string;
  mode: "payment" | "subscription";
  settings: Settings & Pick<CheckoutSession, "tax_id_collection">;
  invoice: HiddenKinds["checkout.session"]["invoice"];
  subtotal: number;
  discount: number;
  currency: string;
  coupon: string | null;
  customer: string | null;
  email: string | null;
  customerEmail: string | null;
  successUrl: string;
  cancelUrl: string | null;
  clientReferenceId: string | null;
  metadata: Record<string, string>;
  expiresAt: number;
}

/** Parts of Stripe Checkout that the product does not use. */
const unused = {
  adaptive_pricing: { enabled: false },
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  currency_conversion: null,
  custom_fields: [],
  customer_account: null,
  integration_identifier: null,
  managed_payments: null,
  origin_context: null,
  payment_link: null,
  payment_method_configuration_details: null,
  payment_method_options: {},
  permissions: null,
  phone_number_collection: { enabled: false },
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  wallet_options: null,
} satisfies Partial<CheckoutSession>;

export function buildSession(context: Context, fields: SessionFields): CheckoutSession {
  return {
    id: fields.id,
    object: "checkout.session",
    ...unused,
    amount_subtotal: fields.subtotal,
    amount_total: fields.subtotal - fields.discount,
    cancel_url: fields.cancelUrl,
    client_reference_id: fields.clientReferenceId,
    created: context.now(),
    currency: fields.currency,
    customer: fields.customer,
    ...fields.settings,
    customer_creation: fields.customer === null ? fields.settings.customer_creation : null,
    customer_details:
      fields.email === null
        ? null
        : {
            address: null,
            business_name: null,
            email: fields.email,
            individual_name: null,
            name: null,
            phone: null,
            tax_exempt: "none",
            tax_ids: null,
          },
    customer_email: fields.customerEmail,
    discounts: fields.coupon === null ? [] : [{ coupon: fields.coupon, promotion_code: null }],
    expires_at: fields.expiresAt,
    invoice: null,
    invoice_creation:
      fields.mode === "payment"
        ? {
            enabled: fields.invoice !== null,
            invoice_data: {
              account_tax_ids: null,
              custom_fields: null,
              description: fields.invoice?.description ?? null,
              footer: fields.invoice?.footer ?? null,
              issuer: null,
              metadata: fields.invoice?.metadata ?? {},
              rendering_options: null,
            },
          }
        : null,
    livemode: false,
    metadata: fields.metadata,
    mode: fields.mode,
    payment_intent: null,
    payment_method_collection: fields.mode === "subscription" ? "always" : "if_required",
    payment_method_types: methodTypesFor(fields.currency),
    payment_status: "unpaid",
    status: "open",
    subscription: null,
    success_url: fields.successUrl,
    total_details: { amount_discount: fields.discount, amount_shipping: 0, amount_tax: 0 },
    ui_mode: "hosted_page",
    url: `${context.origin}/c/pay/${fields.id}`,
  };
}
