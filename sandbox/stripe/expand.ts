import { listOf } from "./api.ts";
import { lineItemsOf } from "./checkout.ts";
import type { Context } from "./context.ts";
import type { ApiError } from "./errors.ts";
import { invalidRequest } from "./errors.ts";
import { paymentsOf } from "./invoice-collect.ts";
import { taxOfCustomer } from "./tax-rates.ts";

type Json = Record<string, unknown>;

const maximumDepth = 4;
const maximumPaths = 20;

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Fields that Stripe leaves out unless `expand` names them. */
function includable(context: Context, owner: Json, field: string): unknown {
  const id = String(owner.id);
  if (owner.object === "invoice" && field === "payments") return listOf(paymentsOf(context, id), "/v1/invoice_payments");
  if (owner.object === "checkout.session" && field === "line_items") return lineItemsOf(context, id);
  if (owner.object === "charge" && field === "refunds") {
    const refunds = context.store.where("refund", [{ path: "charge", operator: "=", value: id }]);
    return listOf(refunds.reverse(), `/v1/charges/${id}/refunds`);
  }
  if (owner.object === "customer" && field === "tax") return taxOfCustomer(context, context.store.get("customer", id));
  if (owner.object === "customer" && field === "subscriptions") {
    const filters = [
      { path: "customer", operator: "=", value: id },
      { path: "status", operator: "!=", value: "canceled" },
    ] as const;
    return listOf(context.store.where("subscription", filters).reverse(), `/v1/customers/${id}/subscriptions`);
  }
  return undefined;
}

/** The fields of any object that hold another object, its id or null. A list is needed, because a null does not show what a field holds. */
const expandable = new Set([
  ...["application", "balance_transaction", "charge", "coupon", "credit_note", "customer", "default_payment_method", "default_source"],
  ...["default_tax_rates", "discount", "discounts", "dispute", "failure_balance_transaction", "from_invoice", "invoice", "latest_charge"],
  ...[
    "latest_invoice",
    "latest_revision",
    "next_pending_invoice_item_invoice",
    "on_behalf_of",
    "original_payment_method",
    "payment_intent",
  ],
  ...["payment_link", "payment_method", "payment_record", "pending_setup_intent", "price", "product", "promotion_code", "quote", "refund"],
  ...["review", "schedule", "setup_intent", "source_transfer", "source_transfer_reversal", "subscription", "test_clock", "transfer"],
  ...["transfer_reversal", "tax_rate"],
]);

/** Whether a path may end at the field or, unless it is the last, pass through it: through parts of an object and through lists. */
function mayExpand(field: string, value: unknown, isLast: boolean): boolean {
  if (expandable.has(field)) return value === null || typeof value === "object";
  if (typeof value !== "object" || value === null) return false;
  return !isLast || Object.hasOwn(value, "object");
}

function cannotExpand(path: string): ApiError {
  const message = `This property cannot be expanded (${path}). You may want to try expanding 'data.${path}' if this is a list.`;
  return invalidRequest(message, "expand");
}

function expandPath(context: Context, target: unknown, segments: readonly string[], path: string): void {
  const [field, ...rest] = segments;
  if (field === undefined) return;
  if (Array.isArray(target)) {
    for (const item of target) expandPath(context, item, segments, path);
    return;
  }
  if (!isJson(target)) return;
  const known = Object.hasOwn(target, field);
  const value = known ? target[field] : includable(context, target, field);
  if (!known && value === undefined) throw cannotExpand(path);
  const object = typeof value === "string" ? context.store.findAny(value) : undefined;
  if (known && !object && !mayExpand(field, value, rest.length === 0)) throw cannotExpand(path);
  target[field] = object ?? value;
  const next = target[field];
  if (Array.isArray(next))
    target[field] = next.map((item: unknown) => (typeof item === "string" ? (context.store.findAny(item) ?? item) : item));
  expandPath(context, target[field], rest, path);
}

/** Replaces ids by their objects along each path of `expand[]`, on a copy. */
export function expand(context: Context, object: object, paths: readonly string[]): object {
  if (paths.length === 0) return object;
  if (paths.length > maximumPaths) throw invalidRequest(`You may expand at most ${maximumPaths} properties.`, "expand");
  const copy: object = structuredClone(object);
  for (const path of paths) {
    const segments = path.split(".");
    if (segments.length > maximumDepth)
      throw invalidRequest(`You cannot expand more than ${maximumDepth} levels of a property: ${path}`, "expand");
    expandPath(context, copy, segments, path);
  }
  return copy;
}
