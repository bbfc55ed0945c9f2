import type { ApiCall, ApiRoute, List } from "./api.ts";
import { equalityFilters, listOf, listRoute, retrieveRoute } from "./api.ts";
import { createPrice, createProduct, readAmountCents, readCurrency, readRecurring } from "./catalogue.ts";
import type { Context } from "./context.ts";
import { daySeconds, hourSeconds } from "./context.ts";
import { discountCents, redeemableCoupon } from "./coupons.ts";
import { invalidRequest, missingParameter } from "./errors.ts";
import { saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import type { HiddenKinds } from "./kinds.ts";
import type { Parameters } from "./parameters.ts";
import type { CheckoutSession, Coupon, LineItem, Price } from "./wire.ts";

type Lines = HiddenKinds["checkout.session"]["lines"];

function priceFromData(context: Context, data: Parameters): Price {
  const productData = data.object("product_data");
  const product = productData
    ? createProduct(context, {
        id: null,
        name: productData.requiredText("name"),
        description: productData.text("description") ?? null,
        active: true,
        metadata: productData.metadata("metadata"),
      }).id
    : context.store.reference("product", data.requiredText("product"), data.nameOf("product")).id;
  productData?.accept("images", "tax_code");
  data.accept("tax_behavior");
  return createPrice(context, {
    product,
    currency: readCurrency(data),
    unitAmountCents: readAmountCents(data),
    recurring: readRecurring(data),
    lookupKey: null,
    nickname: null,
    active: false,
    metadata: {},
  });
}

function readLine(context: Context, parameters: Parameters): { price: Price; quantity: number } {
  const quantity = parameters.integer("quantity", 1, 1000) ?? 1;
  const data = parameters.object("price_data");
  if (data) return { price: priceFromData(context, data), quantity };
  const price = context.store.reference("price", parameters.requiredText("price"), parameters.nameOf("price"));
  if (!price.active)
    throw invalidRequest(`The price specified is inactive. This field only accepts active prices.`, parameters.nameOf("price"));
  return { price, quantity };
}

function readLines(context: Context, parameters: Parameters, mode: "payment" | "subscription"): { price: Price; quantity: number }[] {
  const list = parameters.objects("line_items");
  if (!list || list.length === 0) throw missingParameter("line_items");
  if (list.length > 20) throw invalidRequest("You may pass at most 20 line items.", "line_items");
  const lines = list.map((line) => readLine(context, line));
  const recurring = lines.filter((line) => line.price.type === "recurring").length;
  if (mode === "payment" && recurring > 0)
    throw invalidRequest(
      "You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use only one-time prices.",
      "line_items[0][price]",
    );
  if (mode === "subscription" && recurring === 0)
    throw invalidRequest("You must provide at least one recurring price in `subscription` mode when using prices.", "line_items[0][price]");
  if (mode === "subscription" && lines.length > 1) throw invalidRequest("The sandbox sells one price per subscription.", "line_items");
  return lines;
}

/** Discounts are shared out over the lines; the last line takes the cents that rounding leaves. */
function buildLineItems(context: Context, lines: readonly { price: Price; quantity: number }[], coupon: Coupon | undefined): LineItem[] {
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

function readCoupon(context: Context, parameters: Parameters): Coupon | undefined {
  const discounts = parameters.objects("discounts");
  const first = discounts?.[0];
  if (!first) return undefined;
  if (discounts.length > 1) throw invalidRequest("You may pass at most one discount.", "discounts");
  return redeemableCoupon(context, first.requiredText("coupon"), "discounts[0][coupon]");
}

function readExpiry(context: Context, parameters: Parameters): number {
  const expiresAt = parameters.integer("expires_at");
  if (expiresAt === undefined) return context.now() + daySeconds;
  // A minute of tolerance: the caller computed the bound a moment ago.
  if (expiresAt < context.now() + hourSeconds / 2 - 60 || expiresAt > context.now() + daySeconds + 60) {
    throw invalidRequest(
      "The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.",
      "expires_at",
    );
  }
  return expiresAt;
}

function readAddress(parameters: Parameters, key: string): string {
  const address = parameters.requiredText(key);
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw invalidRequest(`Not a valid URL: ${address}`, key, "url_invalid");
  return address;
}

function readHidden(parameters: Parameters, lines: Lines, items: LineItem[], coupon: Coupon | undefined): HiddenKinds["checkout.session"] {
  const subscriptionData = parameters.object("subscription_data");
  const intentData = parameters.object("payment_intent_data");
  intentData?.accept("receipt_email", "setup_future_usage", "statement_descriptor_suffix");
  subscriptionData?.accept("billing_mode");
  return {
    lines,
    items,
    coupon: coupon?.id ?? null,
    subscriptionMetadata: subscriptionData?.metadata("metadata") ?? {},
    paymentIntentMetadata: intentData?.metadata("metadata") ?? {},
    description: subscriptionData?.text("description") ?? intentData?.text("description") ?? null,
    paymentIntent: null,
    failure: null,
  };
}

const inertParameters = [
  "allow_promotion_codes",
  "billing_address_collection",
  "locale",
  "submit_type",
  "payment_method_collection",
  "customer_update",
  "customer_creation",
  "automatic_tax",
  "ui_mode",
  "consent_collection",
  "custom_text",
  "origin_context",
  "tax_id_collection",
  "phone_number_collection",
  "saved_payment_method_options",
  "adaptive_pricing",
  "allowed_payment_method_types",
  "branding_settings",
] as const;

function create({ context, parameters }: ApiCall): CheckoutSession {
  const mode = parameters.oneOf("mode", ["payment", "subscription"]) ?? "payment";
  const coupon = readCoupon(context, parameters);
  const lines = readLines(context, parameters, mode);
  const items = buildLineItems(context, lines, coupon);
  const customerId = parameters.text("customer") ?? null;
  const email = parameters.text("customer_email") ?? null;
  if (customerId !== null && email !== null)
    throw invalidRequest("You may only specify one of these parameters: customer, customer_email.", "customer");
  const customer = customerId === null ? null : context.store.reference("customer", customerId, "customer");
  const hidden = readHidden(
    parameters,
    lines.map((line) => ({ price: line.price.id, quantity: line.quantity })),
    items,
    coupon,
  );
  parameters.accept(...inertParameters);
  const id = newId("cs_test", 58);
  const subtotal = items.reduce((sum, item) => sum + item.amount_subtotal, 0);
  const discount = items.reduce((sum, item) => sum + item.amount_discount, 0);
  const session = buildSession(context, {
    id,
    mode,
    subtotal,
    discount,
    currency: items[0]?.currency ?? "usd",
    coupon: coupon?.id ?? null,
    customer: customer?.id ?? null,
    email: customer?.email ?? email,
    customerEmail: email,
    successUrl: readAddress(parameters, "success_url"),
    cancelUrl: parameters.has("cancel_url") ? readAddress(parameters, "cancel_url") : null,
    clientReferenceId: parameters.text("client_reference_id") ?? null,
    metadata: parameters.metadata("metadata"),
    expiresAt: readExpiry(context, parameters),
  });
  context.store.insert("checkout.session", session);
  context.store.hide("checkout.session", id, hidden);
  context.store.plan(id, "expire_session", session.expires_at);
  return session;
}

interface SessionFields {
  id: string;
  mode: "payment" | "subscription";
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

function buildSession(context: Context, fields: SessionFields): CheckoutSession {
  return {
    id: fields.id,
    object: "checkout.session",
    adaptive_pricing: { enabled: false },
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: null,
    amount_subtotal: fields.subtotal,
    amount_total: fields.subtotal - fields.discount,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: fields.cancelUrl,
    client_reference_id: fields.clientReferenceId,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: context.now(),
    currency: fields.currency,
    currency_conversion: null,
    custom_fields: [],
    custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
    customer: fields.customer,
    customer_account: null,
    customer_creation: fields.customer === null ? (fields.mode === "subscription" ? "always" : "if_required") : null,
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
    integration_identifier: null,
    invoice: null,
    invoice_creation:
      fields.mode === "payment"
        ? {
            enabled: false,
            invoice_data: {
              account_tax_ids: null,
              custom_fields: null,
              description: null,
              footer: null,
              issuer: null,
              metadata: {},
              rendering_options: null,
            },
          }
        : null,
    livemode: false,
    locale: null,
    managed_payments: null,
    metadata: fields.metadata,
    mode: fields.mode,
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: fields.mode === "subscription" ? "always" : "if_required",
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ["card"],
    payment_status: "unpaid",
    permissions: null,
    phone_number_collection: { enabled: false },
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: "open",
    submit_type: null,
    subscription: null,
    success_url: fields.successUrl,
    total_details: { amount_discount: fields.discount, amount_shipping: 0, amount_tax: 0 },
    ui_mode: "hosted_page",
    url: `${context.origin}/c/pay/${fields.id}`,
    wallet_options: null,
  };
}

export function expireSession(context: Context, id: string): CheckoutSession | undefined {
  const session = context.store.find("checkout.session", id);
  if (session?.status !== "open") return session;
  context.store.unplan(id);
  return saveChange(context, "checkout.session", "checkout.session.expired", { ...session, status: "expired", url: null });
}

function expire({ context, id }: ApiCall): CheckoutSession {
  const session = context.store.get("checkout.session", id, "session");
  if (session.status !== "open")
    throw invalidRequest(
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${String(session.status)}.`,
    );
  return expireSession(context, id) ?? session;
}

export function lineItemsOf(context: Context, sessionId: string): List<LineItem> {
  return listOf(context.store.hidden("checkout.session", sessionId).items, `/v1/checkout/sessions/${sessionId}/line_items`);
}

function update({ context, id, parameters }: ApiCall): CheckoutSession {
  const session = context.store.get("checkout.session", id, "session");
  return context.store.save("checkout.session", { ...session, metadata: parameters.metadata("metadata", session.metadata ?? {}) });
}

export const checkoutRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/checkout/sessions", handle: create },
  { method: "POST", url: "/v1/checkout/sessions/:id", handle: update },
  { method: "POST", url: "/v1/checkout/sessions/:id/expire", handle: expire },
  {
    method: "GET",
    url: "/v1/checkout/sessions/:id/line_items",
    handle: ({ context, id, parameters }) => {
      parameters.accept("limit", "starting_after", "ending_before");
      return lineItemsOf(context, context.store.get("checkout.session", id, "session").id);
    },
  },
  listRoute("checkout.session", "/v1/checkout/sessions", (parameters) =>
    equalityFilters(parameters, { customer: "customer", payment_intent: "payment_intent", subscription: "subscription", status: "status" }),
  ),
  retrieveRoute("checkout.session", "/v1/checkout/sessions"),
];
