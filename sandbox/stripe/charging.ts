import { postBalance } from "./balance.ts";
import { cardDetails } from "./card-details.ts";
import type { Context } from "./context.ts";
import { disputeOf } from "./disputes.ts";
import { ApiError } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId, randomText } from "./ids.ts";
import type { Metadata } from "./parameters.ts";
import { spendUnsaved } from "./payment-methods.ts";
import type { Charge, PaymentIntent, PaymentMethod } from "./wire.ts";

/** Why a bank refuses a charge. `authentication_required`: it wants to ask the cardholder, who is not there. */
type Refusal = "card_declined" | "authentication_required";

export const declineMessage = "Your card was declined.";
const messages: Readonly<Record<Refusal, string>> = {
  card_declined: declineMessage,
  authentication_required: "Your card was declined. This transaction requires authentication.",
};
const declineCodes = { card_declined: "generic_decline", authentication_required: "authentication_required" } as const;

interface NewIntent {
  amountCents: number;
  currency: string;
  customer: string | null;
  description: string | null;
  metadata: Metadata;
  /** What the card is saved for; null if it is not. */
  reuse: "off_session" | "on_session" | null;
  /** Where the receipt goes. */
  receiptEmail: string | null;
}

export function createIntent(context: Context, fields: NewIntent): PaymentIntent {
  const id = newId("pi");
  const intent: PaymentIntent = {
    id,
    object: "payment_intent",
    allowed_payment_method_types: null,
    amount: fields.amountCents,
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: "automatic",
    client_secret: `${id}_secret_${randomText(25)}`,
    confirmation_method: "automatic",
    created: context.now(),
    currency: fields.currency,
    customer: fields.customer,
    customer_account: null,
    description: fields.description,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata: fields.metadata,
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ["card"],
    payment_record: null,
    processing: null,
    receipt_email: fields.receiptEmail,
    review: null,
    setup_future_usage: fields.reuse,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: "requires_payment_method",
    transfer_data: null,
    transfer_group: null,
  };
  context.store.insert("payment_intent", intent);
  emit(context, "payment_intent.created", intent);
  return intent;
}

/** 2.9 % and 30 cents, Stripe's usual rate, rounded to the cent. */
function feeCents(amountCents: number): number {
  return Math.round((amountCents * 29) / 1000) + 30;
}

function outcome(refusal: Refusal | null): Charge["outcome"] {
  const declined = refusal !== null;
  return {
    advice_code: null,
    network_advice_code: null,
    network_decline_code: null,
    network_status: declined ? "declined_by_network" : "approved_by_network",
    reason: refusal === null ? null : declineCodes[refusal],
    risk_level: "normal",
    risk_score: 20,
    seller_message: declined ? "The bank did not return any further details with this decline." : "Payment complete.",
    type: declined ? "issuer_declined" : "authorized",
  };
}

function createCharge(context: Context, intent: PaymentIntent, method: PaymentMethod, refusal: Refusal | null): Charge {
  const id = newId("ch");
  const declined = refusal !== null;
  const transaction = declined
    ? null
    : postBalance(context, {
        type: "charge",
        category: "charge",
        amountCents: intent.amount,
        feeCents: feeCents(intent.amount),
        currency: intent.currency,
        source: id,
        description: intent.description,
      });
  return context.store.insert("charge", {
    id,
    object: "charge",
    amount: intent.amount,
    amount_captured: declined ? 0 : intent.amount,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: transaction?.id ?? null,
    billing_details: method.billing_details,
    calculated_statement_descriptor: "TESSERA",
    captured: !declined,
    created: context.now(),
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: refusal,
    failure_message: refusal === null ? null : messages[refusal],
    fraud_details: {},
    livemode: false,
    metadata: intent.metadata,
    on_behalf_of: null,
    outcome: outcome(refusal),
    paid: !declined,
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: cardDetails(method),
    receipt_email: null,
    receipt_number: null,
    receipt_url: declined ? null : `${context.origin}/receipts/${id}`,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: declined ? "failed" : "succeeded",
    transfer_data: null,
    transfer_group: null,
  });
}

/** Whether the cardholder has just answered their bank. */
type Presence = "authenticated" | "off_session";

function refusalOf(context: Context, method: PaymentMethod, presence: Presence): Refusal | null {
  const { card } = context.store.hidden("payment_method", method.id);
  if (card === "declined") return "card_declined";
  return card === "always_authentication" && presence === "off_session" ? "authentication_required" : null;
}

/** Charges the card once. If it is refused, the failed charge and its events are stored and the intent waits for another card. */
export function chargeIntent(
  context: Context,
  intentId: string,
  method: PaymentMethod,
  presence: Presence,
): { intent: PaymentIntent; charge: Charge } {
  const intent = context.store.get("payment_intent", intentId);
  const refusal = refusalOf(context, method, presence);
  const charge = createCharge(context, intent, method, refusal);
  if (refusal !== null) {
    emit(context, "charge.failed", charge);
    const failed = context.store.save("payment_intent", {
      ...intent,
      latest_charge: charge.id,
      last_payment_error: {
        type: "card_error",
        code: refusal,
        decline_code: declineCodes[refusal],
        message: messages[refusal],
        charge: charge.id,
        payment_method: method,
      },
      next_action: null,
      payment_method: null,
      status: "requires_payment_method",
    });
    emit(context, "payment_intent.payment_failed", failed);
    return { intent: failed, charge };
  }
  emit(context, "charge.succeeded", charge);
  if (disputeOf(context, method.id)) context.store.plan(charge.id, "open_dispute", context.now());
  spendUnsaved(context, method.id);
  const succeeded = context.store.save("payment_intent", {
    ...intent,
    amount_received: intent.amount,
    latest_charge: charge.id,
    last_payment_error: null,
    next_action: null,
    payment_method: method.id,
    status: "succeeded",
  });
  emit(context, "payment_intent.succeeded", succeeded);
  return { intent: succeeded, charge };
}

/** The bank asks the cardholder to authenticate: the intent waits until `chargeIntent` or `refuseAuthentication` is called. */
export function requireAuthentication(
  context: Context,
  intentId: string,
  method: PaymentMethod,
  url: string,
  returnUrl: string | null = null,
): PaymentIntent {
  const intent = context.store.get("payment_intent", intentId);
  const waiting = context.store.save("payment_intent", {
    ...intent,
    next_action: { type: "redirect_to_url", redirect_to_url: { return_url: returnUrl, url } },
    payment_method: method.id,
    status: "requires_action",
  });
  emit(context, "payment_intent.requires_action", waiting);
  return waiting;
}

export function refuseAuthentication(context: Context, intentId: string): PaymentIntent {
  const intent = context.store.get("payment_intent", intentId);
  const message = "The provided PaymentMethod has failed authentication. Provide another payment method to pay.";
  const refused = context.store.save("payment_intent", {
    ...intent,
    last_payment_error: { type: "card_error", code: "payment_intent_authentication_failure", message },
    next_action: null,
    payment_method: null,
    status: "requires_payment_method",
  });
  emit(context, "payment_intent.payment_failed", refused);
  return refused;
}

export function cancelIntent(
  context: Context,
  intent: PaymentIntent,
  reason: "abandoned" | "duplicate" | "fraudulent" | "requested_by_customer" | "void_invoice" | null,
): PaymentIntent {
  return saveChange(context, "payment_intent", "payment_intent.canceled", {
    ...intent,
    canceled_at: context.now(),
    cancellation_reason: reason,
    next_action: null,
    status: "canceled",
  });
}

/** The API's error for a refused card: 402. The failed charge stays stored. */
export function declinedError(intent: PaymentIntent, charge: Charge): ApiError {
  const refusal = charge.failure_code === "authentication_required" ? charge.failure_code : "card_declined";
  const fields = {
    type: "card_error",
    code: refusal,
    decline_code: declineCodes[refusal],
    message: messages[refusal],
    charge: charge.id,
    payment_intent: intent,
  } as const;
  return new ApiError(402, fields, "kept");
}
