import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, retrieveRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { invalidParameter, invalidRequest, missingParameter, referenceMissing } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import type { Metadata, Parameters } from "./parameters.ts";
import type { Filter } from "./store.ts";
import type { Price, Product } from "./wire.ts";

interface NewProduct {
  id: string | null;
  name: string;
  description: string | null;
  active: boolean;
  metadata: Metadata;
  taxCode: string | null;
}

export function createProduct(context: Context, fields: NewProduct): Product {
  if (fields.id !== null && context.store.findAny(fields.id))
    throw invalidRequest("Product already exists.", "id", "resource_already_exists");
  const product: Product = {
    id: fields.id ?? newId("prod", 14),
    object: "product",
    active: fields.active,
    created: context.now(),
    default_price: null,
    description: fields.description,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: fields.metadata,
    name: fields.name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: fields.taxCode,
    tax_details: null,
    type: "service",
    unit_label: null,
    updated: context.now(),
    url: null,
  };
  context.store.insert("product", product);
  emit(context, "product.created", product);
  return product;
}

function refuseUnused(parameters: Parameters): void {
  parameters.refuse("images", "statement_descriptor", "unit_label", "url", "marketing_features", "package_dimensions", "shippable");
}

function postProduct({ context, parameters }: ApiCall): Product {
  parameters.only("type", "service");
  refuseUnused(parameters);
  return createProduct(context, {
    id: parameters.text("id") ?? null,
    name: parameters.requiredText("name"),
    description: parameters.text("description") ?? null,
    active: parameters.boolean("active") ?? true,
    metadata: parameters.metadata("metadata"),
    taxCode: readTaxCode(parameters) ?? null,
  });
}

/** Stripe's product tax codes: `txcd_` and eight digits. */
export function readTaxCode(parameters: Parameters): string | null | undefined {
  const code = parameters.text("tax_code");
  if (code && !/^txcd_\d{8}$/.test(code)) throw referenceMissing("tax code", code, parameters.nameOf("tax_code"));
  return code;
}

function updateProduct({ context, id, parameters }: ApiCall): Product {
  const before = context.store.get("product", id);
  const description = parameters.text("description");
  const defaultPrice = parameters.text("default_price");
  refuseUnused(parameters);
  if (defaultPrice) context.store.reference("price", defaultPrice, "default_price");
  const taxCode = readTaxCode(parameters);
  return saveChange(context, "product", "product.updated", {
    ...before,
    name: parameters.text("name") ?? before.name,
    description: description === undefined ? before.description : description,
    active: parameters.boolean("active") ?? before.active,
    default_price: defaultPrice === undefined ? (before.default_price ?? null) : defaultPrice,
    metadata: parameters.metadata("metadata", before.metadata),
    tax_code: taxCode === undefined ? (before.tax_code ?? null) : taxCode,
    updated: context.now(),
  });
}

interface NewPrice {
  product: string;
  currency: string;
  unitAmountCents: number;
  recurring: { interval: "day" | "week" | "month" | "year"; intervalCount: number } | null;
  lookupKey: string | null;
  nickname: string | null;
  active: boolean;
  metadata: Metadata;
  taxBehavior: TaxBehavior;
}

type TaxBehavior = "exclusive" | "inclusive" | "unspecified";

export function readTaxBehavior(parameters: Parameters): TaxBehavior | undefined {
  return parameters.oneOf("tax_behavior", ["exclusive", "inclusive", "unspecified"]);
}

export function createPrice(context: Context, fields: NewPrice): Price {
  const price: Price = {
    id: newId("price"),
    object: "price",
    active: fields.active,
    billing_scheme: "per_unit",
    created: context.now(),
    currency: fields.currency,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: fields.lookupKey,
    metadata: fields.metadata,
    nickname: fields.nickname,
    product: fields.product,
    recurring: fields.recurring && {
      interval: fields.recurring.interval,
      interval_count: fields.recurring.intervalCount,
      meter: null,
      trial_period_days: null,
      usage_type: "licensed",
    },
    tax_behavior: fields.taxBehavior,
    tiers_mode: null,
    transform_quantity: null,
    type: fields.recurring ? "recurring" : "one_time",
    unit_amount: fields.unitAmountCents,
    unit_amount_decimal: String(fields.unitAmountCents),
  };
  context.store.insert("price", price);
  emit(context, "price.created", price);
  return price;
}

/** A lookup key belongs to one price. With `transfer_lookup_key` the price that has it loses it. */
function claimLookupKey(context: Context, key: string, transfer: boolean, owner: string | null): void {
  for (const holder of context.store.where("price", [{ path: "lookup_key", operator: "=", value: key }])) {
    if (holder.id === owner) continue;
    if (!transfer)
      throw invalidRequest(`A price (\`${holder.id}\`) already uses that lookup key.`, "lookup_key", "resource_already_exists");
    saveChange(context, "price", "price.updated", { ...holder, lookup_key: null });
  }
}

export function readRecurring(parameters: Parameters): NewPrice["recurring"] {
  const recurring = parameters.object("recurring");
  if (!recurring) return null;
  const interval = recurring.oneOf("interval", ["day", "week", "month", "year"]);
  if (interval === undefined) throw missingParameter(recurring.nameOf("interval"));
  recurring.oneOf("usage_type", ["licensed"]);
  return { interval, intervalCount: recurring.integer("interval_count", 1, 36) ?? 1 };
}

export function readAmountCents(parameters: Parameters): number {
  const amount = parameters.integer("unit_amount", 0, 99_999_999) ?? parameters.integer("unit_amount_decimal", 0, 99_999_999);
  if (amount === undefined) throw missingParameter(parameters.nameOf("unit_amount"));
  return amount;
}

/** Those of ISO 4217 that people pay with; some that Stripe does not offer are among them. */
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency").map((code) => code.toLowerCase()));

export function readCurrency(parameters: Parameters): string {
  const currency = parameters.requiredText("currency").toLowerCase();
  if (!currencies.has(currency)) {
    const message = `Invalid currency: ${currency.slice(0, 10)}. Stripe currently supports these currencies: ${[...currencies].join(", ")}`;
    throw invalidParameter(message, parameters.nameOf("currency"));
  }
  return currency;
}

function productOf(context: Context, parameters: Parameters): string {
  const data = parameters.object("product_data");
  if (!data) return context.store.reference("product", parameters.requiredText("product"), "product").id;
  const fields = {
    id: data.text("id") ?? null,
    name: data.requiredText("name"),
    description: null,
    active: data.boolean("active") ?? true,
    metadata: data.metadata("metadata"),
    taxCode: readTaxCode(data) ?? null,
  };
  return createProduct(context, fields).id;
}

function postPrice({ context, parameters }: ApiCall): Price {
  const lookupKey = parameters.text("lookup_key") ?? null;
  const transfer = parameters.boolean("transfer_lookup_key") ?? false;
  const fields: NewPrice = {
    currency: readCurrency(parameters),
    unitAmountCents: readAmountCents(parameters),
    recurring: readRecurring(parameters),
    lookupKey,
    nickname: parameters.text("nickname") ?? null,
    active: parameters.boolean("active") ?? true,
    metadata: parameters.metadata("metadata"),
    taxBehavior: readTaxBehavior(parameters) ?? "unspecified",
    product: productOf(context, parameters),
  };
  parameters.only("billing_scheme", "per_unit");
  if (lookupKey !== null) claimLookupKey(context, lookupKey, transfer, null);
  return createPrice(context, fields);
}

function updatePrice({ context, id, parameters }: ApiCall): Price {
  const before = context.store.get("price", id);
  const lookupKey = parameters.text("lookup_key");
  const transfer = parameters.boolean("transfer_lookup_key") ?? false;
  const nickname = parameters.text("nickname");
  const taxBehavior = readTaxBehavior(parameters);
  if (taxBehavior !== undefined && before.tax_behavior !== "unspecified" && taxBehavior !== before.tax_behavior)
    throw invalidRequest("You cannot change the tax_behavior of a price once it is set to inclusive or exclusive.", "tax_behavior");
  if (lookupKey) claimLookupKey(context, lookupKey, transfer, id);
  return saveChange(context, "price", "price.updated", {
    ...before,
    active: parameters.boolean("active") ?? before.active,
    lookup_key: lookupKey === undefined ? before.lookup_key : lookupKey,
    nickname: nickname === undefined ? before.nickname : nickname,
    tax_behavior: taxBehavior ?? before.tax_behavior,
    metadata: parameters.metadata("metadata", before.metadata),
  });
}

function activeFilter(parameters: Parameters): Filter[] {
  const active = parameters.boolean("active");
  return active === undefined ? [] : [{ path: "active", operator: "=", value: active }];
}

function priceFilters(parameters: Parameters): Filter[] {
  const lookupKeys = parameters.texts("lookup_keys");
  if (lookupKeys && (lookupKeys.length === 0 || lookupKeys.length > 10))
    throw invalidRequest("lookup_keys takes one to ten keys.", "lookup_keys");
  const filters = [...activeFilter(parameters), ...equalityFilters(parameters, { product: "product", currency: "currency", type: "type" })];
  return lookupKeys ? [...filters, { path: "lookup_key", operator: "in", value: lookupKeys }] : filters;
}

function productFilters(parameters: Parameters): Filter[] {
  const ids = parameters.texts("ids");
  return ids && ids.length > 0
    ? [...activeFilter(parameters), { path: "id", operator: "in", value: ids.slice(0, 100) }]
    : activeFilter(parameters);
}

export const catalogueRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/products", handle: postProduct },
  { method: "POST", url: "/v1/products/:id", handle: updateProduct },
  listRoute("product", "/v1/products", productFilters),
  retrieveRoute("product", "/v1/products"),
  { method: "POST", url: "/v1/prices", handle: postPrice },
  { method: "POST", url: "/v1/prices/:id", handle: updatePrice },
  listRoute("price", "/v1/prices", priceFilters),
  retrieveRoute("price", "/v1/prices"),
];
