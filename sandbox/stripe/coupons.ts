import { addMonths } from "#domain/clock.ts";
import type { ApiCall, ApiRoute } from "./api.ts";
import { listRoute, retrieveRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { invalidParameter, invalidRequest } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId, randomText } from "./ids.ts";
import type { Parameters } from "./parameters.ts";
import type { Coupon, Discount } from "./wire.ts";

/** At most 40 characters (docs.stripe.com/api/coupons). */
function readName(parameters: Parameters): string | null | undefined {
  const name = parameters.text("name");
  if (name && name.length > 40) throw invalidParameter("Invalid string: must be at most 40 characters", "name");
  return name;
}

function create({ context, parameters }: ApiCall): Coupon {
  const id = parameters.text("id") ?? randomText(8);
  const percentOff = parameters.decimal("percent_off");
  const amountOff = parameters.integer("amount_off", 1);
  const currency = parameters.text("currency")?.toLowerCase() ?? null;
  const duration = parameters.oneOf("duration", ["once", "repeating", "forever"]) ?? "once";
  const months = parameters.integer("duration_in_months", 1, 36);
  if ((percentOff === undefined) === (amountOff === undefined))
    throw invalidRequest("You must pass exactly one of percent_off and amount_off.", "percent_off");
  if (percentOff !== undefined && (percentOff <= 0 || percentOff > 100))
    throw invalidRequest("percent_off must be greater than 0 and at most 100.", "percent_off");
  if (amountOff !== undefined && currency === null)
    throw invalidRequest("You must pass currency when passing amount_off.", "currency", "parameter_missing");
  if ((duration === "repeating") !== (months !== undefined))
    throw invalidRequest("duration_in_months goes with duration=repeating, and only with it.", "duration_in_months");
  if (context.store.findAny(id)) throw invalidRequest("Coupon already exists.", "id", "resource_already_exists");
  const coupon: Coupon = {
    id,
    object: "coupon",
    amount_off: amountOff ?? null,
    created: context.now(),
    currency,
    duration,
    duration_in_months: months ?? null,
    livemode: false,
    max_redemptions: parameters.integer("max_redemptions", 1) ?? null,
    metadata: parameters.metadata("metadata"),
    name: readName(parameters) ?? null,
    percent_off: percentOff ?? null,
    redeem_by: parameters.integer("redeem_by") ?? null,
    times_redeemed: 0,
    valid: true,
  };
  context.store.insert("coupon", coupon);
  emit(context, "coupon.created", coupon);
  return coupon;
}

function update({ context, id, parameters }: ApiCall): Coupon {
  const before = context.store.get("coupon", id);
  const name = readName(parameters);
  return saveChange(context, "coupon", "coupon.updated", {
    ...before,
    name: name === undefined ? before.name : name,
    metadata: parameters.metadata("metadata", before.metadata ?? {}),
  });
}

function remove({ context, id }: ApiCall): object {
  const coupon = context.store.get("coupon", id);
  const tombstone = { id, object: "coupon", deleted: true } as const;
  emit(context, "coupon.deleted", { ...coupon, valid: false });
  context.store.markDeleted(id, tombstone);
  return tombstone;
}

function isExpired(context: Context, coupon: Coupon): boolean {
  return coupon.redeem_by !== null && context.now() > coupon.redeem_by;
}

/** Throws Stripe's 400 if the coupon has expired or is used up. */
export function redeemableCoupon(context: Context, id: string, param: string): Coupon {
  const coupon = context.store.reference("coupon", id, param);
  if (!coupon.valid || isExpired(context, coupon)) throw invalidRequest(`Coupon ${id} is expired.`, param, "coupon_expired");
  return coupon;
}

/** The end of a repeating coupon's discount, in Unix seconds. */
function endOf(context: Context, coupon: Coupon): number | null {
  if (coupon.duration !== "repeating") return null;
  return addMonths(new Date(context.now() * 1000), coupon.duration_in_months ?? 1).getTime() / 1000;
}

/** Counts the redemption and creates the discount that invoices refer to. */
export function redeemCoupon(
  context: Context,
  coupon: Coupon,
  fields: { customer: string | null; session: string; subscription: string | null },
): Discount {
  const redeemed = coupon.times_redeemed + 1;
  const exhausted = coupon.max_redemptions !== null && redeemed >= coupon.max_redemptions;
  saveChange(context, "coupon", "coupon.updated", { ...coupon, times_redeemed: redeemed, valid: coupon.valid && !exhausted });
  const discount = context.store.insert("discount", {
    id: newId("di"),
    object: "discount",
    checkout_session: fields.session,
    customer: fields.customer,
    customer_account: null,
    end: endOf(context, coupon),
    invoice: null,
    invoice_item: null,
    promotion_code: null,
    source: { coupon: coupon.id, type: "coupon" },
    start: context.now(),
    subscription: fields.subscription,
    subscription_item: null,
  });
  if (fields.customer !== null) emit(context, "customer.discount.created", discount);
  if (fields.subscription !== null && discount.end !== null) context.store.plan(discount.id, "end_discount", discount.end);
  return discount;
}

/** The discount leaves its subscription: a repeating one after its months, one of a single invoice with that invoice. */
export function endDiscount(context: Context, discountId: string): void {
  const discount = context.store.find("discount", discountId);
  const subscription = typeof discount?.subscription === "string" ? context.store.find("subscription", discount.subscription) : undefined;
  if (!discount || subscription?.status === "canceled") return;
  if (discount.customer !== null) emit(context, "customer.discount.deleted", discount);
  if (!subscription?.discounts.includes(discountId)) return;
  const discounts = subscription.discounts.filter((id) => id !== discountId);
  saveChange(context, "subscription", "customer.subscription.updated", { ...subscription, discounts });
}

/** The discount on `amountCents`, in integer cents; half a cent rounds up, and the discount is at most the amount. */
export function discountCents(coupon: Coupon, amountCents: number): number {
  const cents = coupon.percent_off === null ? (coupon.amount_off ?? 0) : Math.round((amountCents * coupon.percent_off) / 100);
  return Math.min(cents, amountCents);
}

export const couponRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/coupons", handle: create },
  { method: "POST", url: "/v1/coupons/:id", handle: update },
  { method: "DELETE", url: "/v1/coupons/:id", handle: remove },
  listRoute("coupon", "/v1/coupons", () => []),
  retrieveRoute("coupon", "/v1/coupons"),
];
