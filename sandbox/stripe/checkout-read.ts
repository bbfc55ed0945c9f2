import { createPrice, createProduct, readAmountCents, readCurrency, readRecurring } from "./catalogue.ts";
import type { Context } from "./context.ts";
import { daySeconds, hourSeconds } from "./context.ts";
import { redeemableCoupon } from "./coupons.ts";
import { invalidRequest, missingParameter } from "./errors.ts";
import type { HiddenKinds } from "./kinds.ts";
import type { Parameters } from "./parameters.ts";
import type { Coupon, LineItem, Price } from "./wire.ts";

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

export function readHidden(
  parameters: Parameters,
  lines: Lines,
  items: LineItem[],
  coupon: Coupon | undefined,
): HiddenKinds["checkout.session"] {
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
