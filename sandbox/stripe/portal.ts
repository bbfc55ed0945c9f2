import type { ApiCall, ApiRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { ApiError, invalidRequest } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import { payNow } from "./invoice-acts.ts";
import type { CardBehaviour } from "./kinds.ts";
import { portalLocales } from "./locales.ts";
import { createCard, defaultCard, setDefaultCard } from "./payment-methods.ts";
import { configurationOf } from "./portal-configurations.ts";
import { replan } from "./subscription-cycle.ts";
import { itemOf, releaseSchedule } from "./subscription-status.ts";
import { dropTaxId, keepTaxId, readTaxId, shownTaxIds, taxIdsOf } from "./tax-ids.ts";
import { countryOf } from "./tax-places.ts";
import type { Address, Invoice, PaymentMethod, PortalSession, Subscription } from "./wire.ts";

function create({ context, parameters }: ApiCall): PortalSession {
  const customer = context.store.reference("customer", parameters.requiredText("customer"), "customer");
  const returnUrl = parameters.text("return_url") ?? null;
  if (returnUrl !== null && !(URL.canParse(returnUrl) && /^https?:$/.test(new URL(returnUrl).protocol)))
    throw invalidRequest(`Not a valid URL: ${returnUrl}`, "return_url", "url_invalid");
  parameters.refuse("flow_data", "on_behalf_of");
  const configuration = configurationOf(context, parameters);
  const locale = parameters.oneOf("locale", portalLocales) ?? null;
  const id = newId("bps");
  const session: PortalSession = {
    id,
    object: "billing_portal.session",
    configuration,
    created: context.now(),
    customer: customer.id,
    customer_account: null,
    flow: null,
    livemode: false,
    locale,
    on_behalf_of: null,
    return_url: returnUrl,
    url: `${context.origin}/p/session/${id}`,
  };
  context.store.insert("billing_portal.session", session);
  emit(context, "billing_portal.session.created", session);
  return session;
}

export interface PortalView {
  session: PortalSession;
  email: string | null;
  subscriptions: Subscription[];
  invoices: Invoice[];
  card: PaymentMethod | undefined;
  cardBehaviour: CardBehaviour | null;
  /** Undefined if the configuration does not let people change their address. */
  address: Address | null | undefined;
  /** Undefined if the configuration does not let people change it; empty if the customer has no tax id. */
  business: { name: string; value: string } | undefined;
}

/** What the portal page shows: running subscriptions, the newest twelve invoices, the saved card. */
export function portalView(context: Context, sessionId: string): PortalView {
  const session = context.store.get("billing_portal.session", sessionId, "session");
  const customer = context.store.get("customer", session.customer);
  const filter = { path: "customer", operator: "=", value: customer.id } as const;
  const card = currentCard(context, session.customer);
  const configuration = context.store.find("billing_portal.configuration", String(session.configuration));
  const { enabled, allowed_updates: allowed } = configuration?.features.customer_update ?? { enabled: false, allowed_updates: [] };
  const [taxId] = shownTaxIds(context, customer.id);
  return {
    address: enabled && allowed.includes("address") ? (customer.address ?? null) : undefined,
    business: enabled && allowed.includes("tax_id") ? { name: customer.name ?? "", value: taxId?.value ?? "" } : undefined,
    session,
    email: customer.email,
    subscriptions: context.store.where("subscription", [filter, { path: "status", operator: "!=", value: "canceled" }], 20),
    invoices: context.store.page("invoice", [filter], { limit: 12, startingAfter: undefined, endingBefore: undefined }).data,
    card,
    cardBehaviour: card ? context.store.hidden("payment_method", card.id).card : null,
  };
}

function currentCard(context: Context, customerId: string): PaymentMethod | undefined {
  const [subscription] = runningOf(context, customerId);
  const own = typeof subscription?.default_payment_method === "string" ? subscription.default_payment_method : null;
  return defaultCard(context, customerId, own);
}

function runningOf(context: Context, customerId: string): Subscription[] {
  return context.store.where(
    "subscription",
    [
      { path: "customer", operator: "=", value: customerId },
      { path: "status", operator: "!=", value: "canceled" },
    ],
    20,
  );
}

function ownSubscription(context: Context, session: PortalSession, id: string): Subscription {
  const subscription = context.store.get("subscription", id);
  if (subscription.customer !== session.customer || subscription.status === "canceled")
    throw invalidRequest("This subscription can't be changed here.");
  return subscription;
}

/** Cancels the subscription at the end of its period, and drops a planned change of plan. */
export function cancelAtPeriodEnd(context: Context, sessionId: string, subscriptionId: string): void {
  const session = context.store.get("billing_portal.session", sessionId, "session");
  const subscription = ownSubscription(context, session, subscriptionId);
  const schedule =
    typeof subscription.schedule === "string" ? context.store.find("subscription_schedule", subscription.schedule) : undefined;
  if (schedule) releaseSchedule(context, schedule);
  const free = context.store.get("subscription", subscriptionId);
  const after = saveChange(context, "subscription", "customer.subscription.updated", {
    ...free,
    cancel_at: itemOf(free).current_period_end,
    // In flexible mode the portal sets only the date.
    cancel_at_period_end: free.billing_mode.type === "classic",
    canceled_at: context.now(),
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: "cancellation_requested" },
  });
  replan(context, after);
}

export function resumeSubscription(context: Context, sessionId: string, subscriptionId: string): void {
  const session = context.store.get("billing_portal.session", sessionId, "session");
  const subscription = ownSubscription(context, session, subscriptionId);
  const after = saveChange(context, "subscription", "customer.subscription.updated", {
    ...subscription,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
  });
  replan(context, after);
}

/** The new card becomes the default of the customer and of every running subscription. */
export function changeCard(context: Context, sessionId: string, card: CardBehaviour): void {
  const session = context.store.get("billing_portal.session", sessionId, "session");
  const customer = context.store.get("customer", session.customer);
  const method = createCard(context, card, customer.id, customer.email);
  setDefaultCard(context, customer.id, method.id);
  for (const subscription of runningOf(context, customer.id)) {
    saveChange(context, "subscription", "customer.subscription.updated", { ...subscription, default_payment_method: method.id });
  }
}

export function changeAddress(context: Context, sessionId: string, address: Address): void {
  const session = context.store.get("billing_portal.session", sessionId, "session");
  if (portalView(context, sessionId).address === undefined) throw invalidRequest("The address can't be changed here.");
  saveChange(context, "customer", "customer.updated", { ...context.store.get("customer", session.customer), address });
}

/** Replaces the tax id of the customer, or takes it away. */
export function changeTaxId(context: Context, sessionId: string, business: { taxId: string; name: string } | null): void {
  const session = context.store.get("billing_portal.session", sessionId, "session");
  if (portalView(context, sessionId).business === undefined) throw invalidRequest("The tax ID can't be changed here.");
  const customer = context.store.get("customer", session.customer);
  const taxId = business && readTaxId(business.taxId, countryOf(customer.address));
  for (const known of taxIdsOf(context, customer.id)) dropTaxId(context, known.id);
  if (business) saveChange(context, "customer", "customer.updated", { ...customer, name: business.name });
  if (taxId) keepTaxId(context, customer, taxId);
}

/** Returns false if the card was declined; the failed attempt is stored. */
export function payOpenInvoice(context: Context, sessionId: string, invoiceId: string): boolean {
  const session = context.store.get("billing_portal.session", sessionId, "session");
  const invoice = context.store.get("invoice", invoiceId, "invoice");
  if (invoice.customer !== session.customer) throw invalidRequest("This invoice belongs to somebody else.");
  try {
    payNow(context, invoice, currentCard(context, session.customer), false);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.progress === "kept") return false;
    throw error;
  }
}

export const portalRoutes: ApiRoute[] = [{ method: "POST", url: "/v1/billing_portal/sessions", handle: create }];
