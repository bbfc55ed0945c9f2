import type { Refusal } from "./charge-build.ts";
import { createCharge, declineCodes, messages, outcomeOf, postCharge, receiptUrl } from "./charge-build.ts";
import type { Context } from "./context.ts";
import { disputeOf } from "./disputes.ts";
import { ApiError } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId, randomText } from "./ids.ts";
import type { Metadata } from "./parameters.ts";
import { spendUnsaved } from "./payment-methods.ts";
import { afterBusinessDays } from "./periods.ts";
import type { Charge, PaymentIntent, PaymentMethod } from "./wire.ts";

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
  /** What it may be paid with. */
  methodTypes: readonly string[];
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
    payment_method_types: [...fields.methodTypes],
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

/** Whether the cardholder has just answered their bank. */
type Presence = "authenticated" | "off_session";

export interface Attempted {
  intent: PaymentIntent;
  charge: Charge;
}

function refusalOf(context: Context, method: PaymentMethod, presence: Presence): Refusal | null {
  const { card } = context.store.hidden("payment_method", method.id);
  if (card === "declined") return "card_declined";
  return card === "always_authentication" && presence === "off_session" ? "authentication_required" : null;
}

/** The charge has failed: the intent waits for another card. */
function fail(context: Context, intent: PaymentIntent, charge: Charge, refusal: Refusal): Attempted {
  emit(context, "charge.failed", charge);
  const method = context.store.find("payment_method", String(charge.payment_method));
  const failed = context.store.save("payment_intent", {
    ...intent,
    latest_charge: charge.id,
    last_payment_error: {
      type: method?.type === "us_bank_account" ? "invalid_request_error" : "card_error",
      code: refusal,
      decline_code: declineCodes[refusal],
      message: messages[refusal],
      charge: charge.id,
      ...(method && { payment_method: method }),
    },
    next_action: null,
    payment_method: null,
    status: "requires_payment_method",
  });
  emit(context, "payment_intent.payment_failed", failed);
  return { intent: failed, charge };
}

function succeed(context: Context, intent: PaymentIntent, charge: Charge): Attempted {
  emit(context, "charge.succeeded", charge);
  const succeeded = context.store.save("payment_intent", {
    ...intent,
    amount_received: intent.amount,
    latest_charge: charge.id,
    last_payment_error: null,
    next_action: null,
    payment_method: charge.payment_method,
    status: "succeeded",
  });
  emit(context, "payment_intent.succeeded", succeeded);
  return { intent: succeeded, charge };
}

/** Stripe: "up to 4 business days" until it is known whether the debit pays (docs.stripe.com/payments/ach-direct-debit). */
const debitBusinessDays = 4;

/** Submits the debit of a bank account. `endDebit` says what came of it. */
function startDebit(context: Context, intent: PaymentIntent, method: PaymentMethod): Attempted {
  const charge = createCharge(context, intent, method, "pending");
  context.store.hide("charge", charge.id, { session: null, attempt: "automatic", attemptsBefore: 0 });
  context.store.plan(charge.id, "settle_debit", afterBusinessDays(context.now(), debitBusinessDays));
  spendUnsaved(context, method.id);
  const processing = context.store.save("payment_intent", {
    ...intent,
    latest_charge: charge.id,
    last_payment_error: null,
    next_action: null,
    payment_method: method.id,
    status: "processing",
  });
  emit(context, "payment_intent.processing", processing);
  emit(context, "charge.pending", charge);
  return { intent: processing, charge };
}

/** The bank has answered a debit. */
export function endDebit(context: Context, pending: Charge): Attempted {
  const intent = context.store.get("payment_intent", String(pending.payment_intent));
  const method = context.store.get("payment_method", String(pending.payment_method));
  const { card } = context.store.hidden("payment_method", method.id);
  if (card === "bank_debit") {
    const transaction = postCharge(context, pending, method);
    const money = { balance_transaction: transaction.id, receipt_url: receiptUrl(context, pending.id) };
    return succeed(context, intent, context.store.save("charge", { ...pending, ...money, paid: true, status: "succeeded" }));
  }
  const refusal = card === "bank_debit_voids" ? "account_closed" : "insufficient_funds";
  const why = { failure_code: refusal, failure_message: messages[refusal], outcome: outcomeOf(refusal) };
  return fail(context, intent, context.store.save("charge", { ...pending, ...why, status: "failed" }), refusal);
}

/**
 * Charges the card once. If it is refused, the failed charge and its events are stored and the intent waits for another card. A bank account's
 * charge is pending, and its intent processing.
 */
export function chargeIntent(context: Context, intentId: string, method: PaymentMethod, presence: Presence): Attempted {
  const intent = context.store.get("payment_intent", intentId);
  if (method.type === "us_bank_account") return startDebit(context, intent, method);
  const refusal = refusalOf(context, method, presence);
  const charge = createCharge(context, intent, method, refusal ?? "succeeded");
  if (refusal !== null) return fail(context, intent, charge, refusal);
  if (disputeOf(context, method.id)) context.store.plan(charge.id, "open_dispute", context.now());
  spendUnsaved(context, method.id);
  return succeed(context, intent, charge);
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
