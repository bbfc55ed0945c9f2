import type { ApiCall, ApiRoute, List } from "./api.ts";
import { equalityFilters, listOf, listRoute, pageOf, retrieveRoute } from "./api.ts";
import { buildLineItems, buildSession } from "./checkout-build.ts";
import { readAddress, readCollected, readCoupon, readExpiry, readHidden, readLines, readSettings } from "./checkout-read.ts";
import { requireSessionTax, withSessionTax } from "./checkout-tax.ts";
import type { Context } from "./context.ts";
import { invalidRequest, missingParameter } from "./errors.ts";
import { saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import { refuseTooSmall } from "./least-charge.ts";
import type { CheckoutSession, LineItem } from "./wire.ts";

function create({ context, parameters }: ApiCall): CheckoutSession {
  const mode = parameters.oneOf("mode", ["payment", "subscription"]);
  if (mode === undefined) throw missingParameter("mode");
  const coupon = readCoupon(context, parameters);
  const lines = readLines(context, parameters, mode);
  const items = buildLineItems(context, lines, coupon);
  const customerId = parameters.text("customer") ?? null;
  const email = parameters.text("customer_email") ?? null;
  if (customerId !== null && email !== null)
    throw invalidRequest("You may only specify one of these parameters: customer, customer_email.", "customer");
  const customer = customerId === null ? null : context.store.reference("customer", customerId, "customer");
  const collected = readCollected(parameters);
  const hidden = readHidden(
    parameters,
    lines.map((line) => ({ price: line.price.id, quantity: line.quantity })),
    items,
    coupon,
    collected.savesAddress,
  );
  const settings = { ...readSettings(parameters, mode), ...collected.settings };
  if (customer && parameters.has("customer_creation"))
    throw invalidRequest("You may only specify one of these parameters: customer, customer_creation.", "customer_creation");
  const id = newId("cs_test", 58);
  const subtotal = items.reduce((sum, item) => sum + item.amount_subtotal, 0);
  const discount = items.reduce((sum, item) => sum + item.amount_discount, 0);
  refuseTooSmall(mode, subtotal - discount);
  const session = buildSession(context, {
    id,
    mode,
    settings,
    invoice: hidden.invoice,
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
  requireSessionTax(context, session, { prices: lines.map((line) => line.price), customer, savesAddress: hidden.savesAddress });
  context.store.hide("checkout.session", id, hidden);
  const taxed = context.store.insert("checkout.session", withSessionTax(context, session, customer?.address));
  context.store.plan(id, "expire_session", session.expires_at);
  return taxed;
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
      const session = context.store.get("checkout.session", id, "session");
      const { data, url } = lineItemsOf(context, session.id);
      return pageOf(data, url, parameters);
    },
  },
  listRoute("checkout.session", "/v1/checkout/sessions", (parameters) =>
    equalityFilters(parameters, { customer: "customer", payment_intent: "payment_intent", subscription: "subscription", status: "status" }),
  ),
  retrieveRoute("checkout.session", "/v1/checkout/sessions"),
];
