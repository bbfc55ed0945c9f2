import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, retrieveRoute } from "./api.ts";
import { readCurrency } from "./catalogue.ts";
import { cancelIntent, chargeIntent, createIntent, declinedError, requireAuthentication } from "./charging.ts";
import { readAddress } from "./checkout-read.ts";
import type { Context } from "./context.ts";
import { invalidRequest, missingParameter, notPlayed } from "./errors.ts";
import { saveChange } from "./events.ts";
import type { Parameters } from "./parameters.ts";
import { asksHolder, usableCard } from "./payment-methods.ts";
import type { Charge, PaymentIntent } from "./wire.ts";

function confirmWith(
  context: Context,
  intent: PaymentIntent,
  methodId: string,
  offSession: boolean,
  returnUrl: string | null,
): PaymentIntent {
  const method = usableCard(context, methodId, typeof intent.customer === "string" ? intent.customer : null, "payment_method");
  if (method.type !== "card") throw notPlayed("payment_method", "a card: bank accounts pay in a checkout, or an invoice");
  if (!offSession && asksHolder(context.store.hidden("payment_method", method.id).card)) {
    return requireAuthentication(context, intent.id, method, `${context.origin}/authenticate/${intent.id}`, returnUrl);
  }
  const result = chargeIntent(context, intent.id, method, "off_session");
  if (result.charge.status === "failed") throw declinedError(result.intent, result.charge);
  return result.intent;
}

/** Every payment that the API confirms is by card, and is settled at once. */
function refuseOtherMethods(parameters: Parameters): void {
  parameters.refuse("payment_method_data");
  const types = parameters.texts("allowed_payment_method_types");
  if (types?.some((type) => type !== "card")) throw notPlayed("allowed_payment_method_types", "card");
}

function readReturnUrl(parameters: Parameters): string | null {
  return parameters.has("return_url") ? readAddress(parameters, "return_url") : null;
}

function create({ context, parameters }: ApiCall): PaymentIntent {
  const customer = parameters.text("customer") ?? null;
  if (customer !== null) context.store.reference("customer", customer, "customer");
  const fields = {
    amountCents: parameters.requiredInteger("amount", 50, 99_999_999),
    currency: readCurrency(parameters),
    customer,
    description: parameters.text("description") ?? null,
    metadata: parameters.metadata("metadata"),
    reuse: parameters.oneOf("setup_future_usage", ["off_session", "on_session"]) ?? null,
    receiptEmail: parameters.text("receipt_email") ?? null,
    methodTypes: ["card"],
  };
  const confirm = parameters.boolean("confirm") ?? false;
  const offSession = parameters.boolean("off_session") ?? false;
  const method = parameters.text("payment_method");
  const returnUrl = readReturnUrl(parameters);
  parameters.refuse("automatic_payment_methods", "statement_descriptor_suffix", "mandate_data", "payment_method_options");
  refuseOtherMethods(parameters);
  parameters.only("capture_method", "automatic");
  const intent = createIntent(context, fields);
  if (!confirm) return intent;
  if (!method) throw missingParameter("payment_method");
  return confirmWith(context, intent, method, offSession, returnUrl);
}

function confirm({ context, id, parameters }: ApiCall): PaymentIntent {
  const intent = context.store.get("payment_intent", id, "intent");
  const method = parameters.requiredText("payment_method");
  const returnUrl = readReturnUrl(parameters);
  const offSession = parameters.boolean("off_session") ?? false;
  if (intent.status !== "requires_payment_method" && intent.status !== "requires_confirmation") {
    throw invalidRequest(
      `You cannot confirm this PaymentIntent because it has a status of ${intent.status}.`,
      undefined,
      "payment_intent_unexpected_state",
    );
  }
  return confirmWith(context, intent, method, offSession, returnUrl);
}

function cancel({ context, id, parameters }: ApiCall): PaymentIntent {
  const intent = context.store.get("payment_intent", id, "intent");
  const reason = parameters.oneOf("cancellation_reason", ["abandoned", "duplicate", "fraudulent", "requested_by_customer"]) ?? null;
  // Stripe cancels a processing one "in rare cases": until the debit is on its way to the bank.
  if (intent.status === "succeeded" || intent.status === "canceled" || intent.status === "processing") {
    throw invalidRequest(
      `You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`,
      undefined,
      "payment_intent_unexpected_state",
    );
  }
  return cancelIntent(context, intent, reason);
}

function updateCharge({ context, id, parameters }: ApiCall): Charge {
  const charge = context.store.get("charge", id);
  const description = parameters.text("description");
  return saveChange(context, "charge", "charge.updated", {
    ...charge,
    description: description === undefined ? charge.description : description,
    metadata: parameters.metadata("metadata", charge.metadata),
  });
}

export const paymentIntentRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/payment_intents", handle: create },
  { method: "POST", url: "/v1/payment_intents/:id/confirm", handle: confirm },
  { method: "POST", url: "/v1/payment_intents/:id/cancel", handle: cancel },
  listRoute("payment_intent", "/v1/payment_intents", (parameters) => equalityFilters(parameters, { customer: "customer" })),
  retrieveRoute("payment_intent", "/v1/payment_intents"),
  { method: "POST", url: "/v1/charges/:id", handle: updateCharge },
  listRoute("charge", "/v1/charges", (parameters) =>
    equalityFilters(parameters, { customer: "customer", payment_intent: "payment_intent" }),
  ),
  retrieveRoute("charge", "/v1/charges"),
];
