import { createPrice, createProduct, readAmountCents, readCurrency, readRecurring, readTaxBehavior, readTaxCode } from "./catalogue.ts";
import { sessionTax } from "./checkout-tax.ts";
import type { Context } from "./context.ts";
import { daySeconds, hourSeconds } from "./context.ts";
import { redeemableCoupon } from "./coupons.ts";
import { invalidParameter, invalidRequest, missingParameter, notPlayed } from "./errors.ts";
import type { HiddenKinds } from "./kinds.ts";
import { refuseSmallRenewals } from "./least-charge.ts";
import { checkoutLocales } from "./locales.ts";
import type { Parameters } from "./parameters.ts";
import type { BillingMode, CheckoutSession, Coupon, LineItem, Price } from "./wire.ts";

type Lines = HiddenKinds["checkout.session"]["lines"];
export type Settings = Pick<
  CheckoutSession,
  "automatic_tax" | "billing_address_collection" | "locale" | "submit_type" | "custom_text" | "customer_creation"
>;

const notPlayedSettings = [
  "adaptive_pricing",
  "after_expiration",
  "allowed_payment_method_types",
  "branding_settings",
  "consent_collection",
  "currency",
  "custom_fields",
  "name_collection",
  "optional_items",
  "origin_context",
  "payment_method_configuration",
  "payment_method_data",
  "payment_method_options",
  "payment_method_types",
  "phone_number_collection",
  "saved_payment_method_options",
  "shipping_address_collection",
  "shipping_options",
  "wallet_options",
] as const;

function priceFromData(context: Context, data: Parameters): Price {
  const productData = data.object("product_data");
  const product = productData
    ? createProduct(context, {
        id: null,
        name: productData.requiredText("name"),
        description: productData.text("description") ?? null,
        active: true,
        metadata: productData.metadata("metadata"),
        taxCode: readTaxCode(productData) ?? null,
      }).id
    : context.store.reference("product", data.requiredText("product"), data.nameOf("product")).id;
  productData?.refuse("images", "unit_label");
  return createPrice(context, {
    product,
    currency: readCurrency(data),
    unitAmountCents: readAmountCents(data),
    recurring: readRecurring(data),
    lookupKey: null,
    nickname: null,
    active: false,
    metadata: {},
    taxBehavior: readTaxBehavior(data) ?? "unspecified",
  });
}

function readLine(context: Context, parameters: Parameters): { price: Price; quantity: number } {
  parameters.refuse("adjustable_quantity", "tax_rates", "dynamic_tax_rates", "metadata");
  const quantity = parameters.requiredInteger("quantity", 1, 1000);
  const data = parameters.object("price_data");
  if (data) return { price: priceFromData(context, data), quantity };
  const price = context.store.reference("price", parameters.requiredText("price"), parameters.nameOf("price"));
  if (!price.active)
    throw invalidRequest(`The price specified is inactive. This field only accepts active prices.`, parameters.nameOf("price"));
  return { price, quantity };
}

export function readLines(
  context: Context,
  parameters: Parameters,
  mode: "payment" | "subscription",
): { price: Price; quantity: number }[] {
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
  if (mode === "subscription") for (const { price } of lines) refuseSmallRenewals(price, "line_items[0][price]");
  return lines;
}

export function readCoupon(context: Context, parameters: Parameters): Coupon | undefined {
  const discounts = parameters.objects("discounts");
  const first = discounts?.[0];
  if (!first) return undefined;
  if (discounts.length > 1) throw invalidRequest("You may pass at most one discount.", "discounts");
  return redeemableCoupon(context, first.requiredText("coupon"), "discounts[0][coupon]");
}

export function readExpiry(context: Context, parameters: Parameters): number {
  const expiresAt = parameters.integer("expires_at");
  if (expiresAt === undefined) return context.now() + daySeconds;
  // Allow a minute, because the caller computed the time a moment ago.
  if (expiresAt < context.now() + hourSeconds / 2 - 60 || expiresAt > context.now() + daySeconds + 60) {
    throw invalidRequest(
      "The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.",
      "expires_at",
    );
  }
  return expiresAt;
}

export function readAddress(parameters: Parameters, key: string): string {
  const address = parameters.requiredText(key);
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw invalidRequest(`Not a valid URL: ${address}`, key, "url_invalid");
  return address;
}

function readInvoiceCreation(parameters: Parameters): HiddenKinds["checkout.session"]["invoice"] {
  const creation = parameters.object("invoice_creation");
  const enabled = creation?.boolean("enabled") ?? false;
  const data = creation?.object("invoice_data");
  if (!enabled) return null;
  return {
    description: data?.text("description") ?? null,
    footer: data?.text("footer") ?? null,
    metadata: data?.metadata("metadata") ?? {},
  };
}

type CustomText = NonNullable<CheckoutSession["custom_text"]>;

function readCustomText(parameters: Parameters): CustomText {
  const texts = parameters.object("custom_text");
  texts?.refuse("shipping_address", "terms_of_service_acceptance");
  const read = (key: "after_submit" | "submit") => {
    const text = texts?.object(key);
    if (!text) return null;
    const message = text.requiredText("message");
    if (message.length > 1_200) throw invalidParameter("Custom texts have at most 1200 characters.", text.nameOf("message"));
    return { message };
  };
  return { after_submit: read("after_submit"), shipping_address: null, submit: read("submit"), terms_of_service_acceptance: null };
}

/** Reads the settings of the session's page. Throws for a setting that the sandbox's page would not follow. */
export function readSettings(parameters: Parameters, mode: "payment" | "subscription"): Settings {
  parameters.refuse(...notPlayedSettings);
  parameters.only("allow_promotion_codes", "false");
  const tax = parameters.object("automatic_tax");
  tax?.refuse("liability");
  parameters.only("payment_method_collection", "always");
  parameters.only("ui_mode", "hosted_page");
  const submitType = parameters.oneOf("submit_type", ["auto", "book", "donate", "pay", "subscribe"]) ?? null;
  const creation = parameters.oneOf("customer_creation", ["always", "if_required"]);
  if (mode === "payment" && parameters.has("subscription_data"))
    throw invalidParameter("You can not pass `subscription_data` in `payment` mode.", "subscription_data");
  for (const key of ["customer_creation", "invoice_creation", "payment_intent_data", "submit_type"])
    if (mode === "subscription" && parameters.has(key))
      throw invalidParameter(`You can not pass \`${key}\` in \`subscription\` mode.`, key);
  const address = parameters.oneOf("billing_address_collection", ["auto", "required"]) ?? null;
  if (address === "required") throw notPlayed("billing_address_collection", "auto: the address that tax needs");
  return {
    automatic_tax: sessionTax(tax?.boolean("enabled") ?? false),
    billing_address_collection: address,
    locale: parameters.oneOf("locale", checkoutLocales) ?? null,
    submit_type: submitType,
    custom_text: readCustomText(parameters),
    customer_creation: mode === "subscription" ? "always" : (creation ?? "if_required"),
  };
}

/** What the page collects besides a card, and whether the address is saved with the customer. */
export interface Collected {
  settings: Pick<CheckoutSession, "tax_id_collection">;
  savesAddress: boolean;
}

/** The name of the business replaces an existing customer's name, so the call has to say that it may. */
export function readCollected(parameters: Parameters): Collected {
  const collection = parameters.object("tax_id_collection");
  collection?.only("required", "never");
  const asksTaxId = collection?.boolean("enabled") ?? false;
  const update = parameters.object("customer_update");
  if (update && !parameters.has("customer"))
    throw invalidParameter("`customer_update` can only be used with `customer`.", "customer_update");
  update?.refuse("shipping");
  const setsName = update?.oneOf("name", ["auto", "never"]) === "auto";
  if (setsName && !asksTaxId) throw notPlayed("customer_update[name]", "auto where tax ids are collected");
  if (asksTaxId && !setsName && parameters.has("customer"))
    throw invalidRequest(
      "Tax ID collection requires updating business name on the customer. To enable tax ID collection for an existing customer, please set `customer_update[name]` to `auto`.",
      "customer_update",
    );
  return {
    settings: asksTaxId ? { tax_id_collection: { enabled: true, required: "never" } } : {},
    savesAddress: update?.oneOf("address", ["auto", "never"]) === "auto",
  };
}

/** `flexible` unless the call asks for `classic`, as since 2025-09-30.clover. */
function readBillingMode(subscriptionData: Parameters | undefined): BillingMode {
  const mode = subscriptionData?.object("billing_mode");
  if (!mode) return "flexible";
  mode.requiredText("type");
  return mode.oneOf("type", ["classic", "flexible"]) ?? "flexible";
}

export function readHidden(
  parameters: Parameters,
  lines: Lines,
  items: LineItem[],
  coupon: Coupon | undefined,
  savesAddress: boolean,
): HiddenKinds["checkout.session"] {
  const subscriptionData = parameters.object("subscription_data");
  subscriptionData?.refuse(
    "trial_period_days",
    "trial_end",
    "trial_settings",
    "billing_cycle_anchor",
    "default_tax_rates",
    "invoice_settings",
  );
  const intentData = parameters.object("payment_intent_data");
  intentData?.only("capture_method", "automatic");
  return {
    lines,
    items,
    coupon: coupon?.id ?? null,
    savesAddress,
    billingMode: readBillingMode(subscriptionData),
    subscriptionMetadata: subscriptionData?.metadata("metadata") ?? {},
    paymentIntentMetadata: intentData?.metadata("metadata") ?? {},
    description: subscriptionData?.text("description") ?? intentData?.text("description") ?? null,
    reuse: intentData?.oneOf("setup_future_usage", ["off_session", "on_session"]) ?? null,
    receiptEmail: intentData?.text("receipt_email") ?? null,
    invoice: readInvoiceCreation(parameters),
    paymentIntent: null,
    failure: null,
  };
}
