import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listOf, listRoute, readPage, retrieveRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { invalidRequest, missingParameter } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId, randomText } from "./ids.ts";
import type { CardBehaviour } from "./kinds.ts";
import type { PaymentMethod } from "./wire.ts";

/** Ends of Stripe's test cards and accounts. 0341 can be attached but not charged; 3155 asks its holder once, 3184 at each payment. */
const last4: Readonly<Record<CardBehaviour, string>> = {
  success: "4242",
  declined: "0341",
  authentication: "3155",
  always_authentication: "3184",
  pending_refund: "7726",
  failing_refund: "5126",
  disputed_fraudulent: "0259",
  disputed_not_received: "2685",
  inquiry: "1976",
  bank_debit: "6789",
  bank_debit_fails: "2227",
  bank_debit_voids: "1113",
};

/** Stripe's test accounts 000123456789, 000222222227 and 000111111113. */
const bankDebits: readonly CardBehaviour[] = ["bank_debit", "bank_debit_fails", "bank_debit_voids"];

export function isBankDebit(card: CardBehaviour): boolean {
  return bankDebits.includes(card);
}

/** What a payment in this currency may be made with: US bank accounts are debited in dollars. */
export function methodTypesFor(currency: string): ("card" | "us_bank_account")[] {
  return currency === "usd" ? ["card", "us_bank_account"] : ["card"];
}

/** Throws 400 for a bank account that can't pay in this currency. */
export function refuseOtherCurrency(card: CardBehaviour, currency: string): void {
  if (isBankDebit(card) && !methodTypesFor(currency).includes("us_bank_account"))
    throw invalidRequest(`A US bank account can't be debited in ${currency}.`, "card", "payment_method_currency_mismatch");
}

/** The name that people read. */
export function nameOf(method: Pick<PaymentMethod, "card" | "us_bank_account">): string {
  return method.us_bank_account
    ? `Bank account •••• ${method.us_bank_account.last4 ?? ""}`
    : method.card
      ? `Visa •••• ${method.card.last4}`
      : "";
}

/** Stripe's ready-made payment methods and tokens that the sandbox knows. */
const testMethods: Readonly<Record<string, CardBehaviour>> = {
  pm_card_visa: "success",
  tok_visa: "success",
  pm_card_chargeCustomerFail: "declined",
  tok_chargeCustomerFail: "declined",
  pm_card_authenticationRequiredOnSetup: "authentication",
  pm_card_authenticationRequired: "always_authentication",
  pm_card_pendingRefund: "pending_refund",
  tok_pendingRefund: "pending_refund",
  pm_card_refundFail: "failing_refund",
  tok_refundFail: "failing_refund",
  pm_card_createDispute: "disputed_fraudulent",
  tok_createDispute: "disputed_fraudulent",
  pm_card_createDisputeProductNotReceived: "disputed_not_received",
  tok_createDisputeProductNotReceived: "disputed_not_received",
  pm_card_createDisputeInquiry: "inquiry",
  tok_createDisputeInquiry: "inquiry",
};

/** Whether the bank asks the cardholder when they pay with the card themselves. */
export function asksHolder(card: CardBehaviour): boolean {
  return card === "authentication" || card === "always_authentication";
}

type OfKind = Pick<PaymentMethod, "type" | "card" | "us_bank_account">;

function visa(context: Context, card: CardBehaviour): OfKind {
  return {
    card: {
      brand: "visa",
      checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: "pass" },
      country: "US",
      display_brand: "visa",
      exp_month: 12,
      exp_year: new Date(context.now() * 1000).getUTCFullYear() + 5,
      fingerprint: randomText(16),
      funding: "credit",
      generated_from: null,
      last4: last4[card],
      networks: { available: ["visa"], preferred: null },
      regulated_status: "unregulated",
      three_d_secure_usage: { supported: true },
      wallet: null,
    },
    type: "card",
  };
}

function bankAccount(card: CardBehaviour): OfKind {
  return {
    type: "us_bank_account",
    us_bank_account: {
      account_holder_type: "individual",
      account_type: "checking",
      bank_name: "STRIPE TEST BANK",
      financial_connections_account: null,
      fingerprint: randomText(16),
      last4: last4[card],
      networks: { preferred: "ach", supported: ["ach"] },
      routing_number: "110000000",
      status_details: {},
    },
  };
}

/** A new card, or a bank account, of whose holder Stripe also asks the name. */
export function createCard(context: Context, card: CardBehaviour, customer: string | null, email: string | null): PaymentMethod {
  const isBank = isBankDebit(card);
  const method: PaymentMethod = {
    id: newId("pm"),
    object: "payment_method",
    allow_redisplay: "unspecified",
    billing_details: { address: null, email, name: isBank ? "Test Account Holder" : null, phone: null, tax_id: null },
    created: context.now(),
    customer: null,
    customer_account: null,
    livemode: false,
    metadata: {},
    ...(isBank ? bankAccount(card) : visa(context, card)),
  };
  context.store.insert("payment_method", method);
  context.store.hide("payment_method", method.id, { card, spent: false });
  return customer === null ? method : attach(context, method, customer);
}

export function attach(context: Context, method: PaymentMethod, customer: string): PaymentMethod {
  const attached = context.store.save("payment_method", { ...method, customer });
  emit(context, "payment_method.attached", attached);
  return attached;
}

function refuseSpent(context: Context, method: PaymentMethod, param: string): void {
  if (method.customer !== null || !context.store.hidden("payment_method", method.id).spent) return;
  const message =
    "This PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, and may not be used again.";
  throw invalidRequest(message, param);
}

/**
 * A card that this customer may pay with: their own, or one that is nobody's and has never paid. Stripe's ready-made ids
 * (`pm_card_visa`, …) make a new card of their kind.
 */
export function usableCard(context: Context, id: string, customer: string | null, param: string): PaymentMethod {
  const card = testMethods[id];
  if (card) return createCard(context, card, null, null);
  const method = context.store.reference("payment_method", id, param);
  refuseSpent(context, method, param);
  if (method.customer === null || method.customer === customer) return method;
  if (customer === null) {
    const message = `The PaymentMethod ${id} belongs to a Customer. Please include the Customer in the \`customer\` parameter.`;
    throw invalidRequest(message, param);
  }
  const message = `The PaymentMethod ${id} does not belong to the Customer you supplied ${customer}. Please use this PaymentMethod with the Customer that it belongs to instead.`;
  throw invalidRequest(message, param);
}

/** Throws Stripe's 400 unless the card is attached to the customer, as a default has to be. */
export function requireOwnCard(context: Context, id: string, customer: string, param: string): void {
  if (context.store.reference("payment_method", id, param).customer === customer) return;
  const message = `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`;
  throw invalidRequest(message, param, "resource_missing");
}

/** To be called once a card has paid: if no customer has saved it, it can't pay again. */
export function spendUnsaved(context: Context, methodId: string): void {
  const hidden = context.store.hidden("payment_method", methodId);
  if (context.store.find("payment_method", methodId)?.customer === null)
    context.store.hide("payment_method", methodId, { ...hidden, spent: true });
}

/** The card that pays for renewals: the subscription's own, else the customer's default, else undefined. */
export function defaultCard(context: Context, customerId: string, subscriptionMethod: string | null): PaymentMethod | undefined {
  const customer = context.store.find("customer", customerId);
  const chosen = subscriptionMethod ?? customer?.invoice_settings.default_payment_method;
  const method = typeof chosen === "string" ? context.store.find("payment_method", chosen) : undefined;
  return method?.customer === customerId ? method : undefined;
}

export function setDefaultCard(context: Context, customerId: string, methodId: string): void {
  const customer = context.store.get("customer", customerId);
  const invoiceSettings = { ...customer.invoice_settings, default_payment_method: methodId };
  saveChange(context, "customer", "customer.updated", { ...customer, invoice_settings: invoiceSettings });
}

function create({ context, parameters }: ApiCall): PaymentMethod {
  parameters.requiredText("type");
  parameters.only("type", "card");
  const card = parameters.object("card");
  const token = card?.text("token");
  if (!token) throw missingParameter("card[token]");
  const behaviour = testMethods[token];
  if (!behaviour) throw invalidRequest(`No such token: '${token}'`, "card[token]", "resource_missing");
  card?.refuse("number", "exp_month", "exp_year", "cvc");
  const details = parameters.object("billing_details");
  return createCard(context, behaviour, null, details?.text("email") ?? null);
}

function postAttach({ context, id, parameters }: ApiCall): PaymentMethod {
  const customer = context.store.reference("customer", parameters.requiredText("customer"), "customer");
  const method = testMethods[id] ? createCard(context, testMethods[id], null, customer.email) : context.store.get("payment_method", id);
  if (method.customer === customer.id) return method;
  refuseSpent(context, method, "payment_method");
  if (method.customer !== null)
    throw invalidRequest("The payment method you provided has already been attached to a customer.", "payment_method");
  return attach(context, method, customer.id);
}

function detach({ context, id }: ApiCall): PaymentMethod {
  const method = context.store.get("payment_method", id);
  if (typeof method.customer !== "string")
    throw invalidRequest("The payment method you provided is not attached to a customer so detachment is impossible.", "payment_method");
  return detachCard(context, method, method.customer);
}

/** Takes the card away from the customer for good, and from everything that would be paid with it. */
function detachCard(context: Context, method: PaymentMethod, customerId: string): PaymentMethod {
  const customer = context.store.find("customer", customerId);
  if (customer?.invoice_settings.default_payment_method === method.id) {
    saveChange(context, "customer", "customer.updated", {
      ...customer,
      invoice_settings: { ...customer.invoice_settings, default_payment_method: null },
    });
  }
  const paidWithIt = { path: "default_payment_method", operator: "=", value: method.id } as const;
  for (const subscription of context.store.where("subscription", [{ path: "customer", operator: "=", value: customerId }, paidWithIt]))
    saveChange(context, "subscription", "customer.subscription.updated", { ...subscription, default_payment_method: null });
  context.store.hide("payment_method", method.id, { ...context.store.hidden("payment_method", method.id), spent: true });
  const detached = context.store.save("payment_method", { ...method, customer: null });
  emit(context, "payment_method.detached", detached, { customer: customerId });
  return detached;
}

function listOfCustomer({ context, id, parameters }: ApiCall): object {
  context.store.get("customer", id, "customer");
  const page = readPage(parameters);
  const { data, hasMore } = context.store.page(
    "payment_method",
    [{ path: "customer", operator: "=", value: id }, ...equalityFilters(parameters, { type: "type" })],
    page,
  );
  return listOf(data, `/v1/customers/${id}/payment_methods`, hasMore);
}

export const paymentMethodRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/payment_methods", handle: create },
  { method: "POST", url: "/v1/payment_methods/:id/attach", handle: postAttach },
  { method: "POST", url: "/v1/payment_methods/:id/detach", handle: detach },
  { method: "GET", url: "/v1/customers/:id/payment_methods", handle: listOfCustomer },
  listRoute("payment_method", "/v1/payment_methods", (parameters) => equalityFilters(parameters, { customer: "customer", type: "type" })),
  retrieveRoute("payment_method", "/v1/payment_methods"),
];
