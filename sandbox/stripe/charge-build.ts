import { postBalance } from "./balance.ts";
import type { Context } from "./context.ts";
import { newId } from "./ids.ts";
import { methodDetails } from "./method-details.ts";
import type { BalanceTransaction, Charge, PaymentIntent, PaymentMethod } from "./wire.ts";

/**
 * Why a bank refuses a charge. `authentication_required`: it wants to ask the cardholder, who is not there. The last two are answers to the
 * debit of a bank account.
 */
export type Refusal = "card_declined" | "authentication_required" | "insufficient_funds" | "account_closed";

export const declineMessage = "Your card was declined.";
export const messages: Readonly<Record<Refusal, string>> = {
  card_declined: declineMessage,
  authentication_required: "Your card was declined. This transaction requires authentication.",
  insufficient_funds: "The customer's account has insufficient funds to cover this payment.",
  account_closed: "The customer's bank account has been closed.",
};
export const declineCodes: Readonly<Record<Refusal, string>> = {
  card_declined: "generic_decline",
  authentication_required: "authentication_required",
  insufficient_funds: "insufficient_funds",
  account_closed: "account_closed",
};

/** Stripe's usual rates, rounded to the cent: 2.9 % and 30 cents for a card, 0.8 % and at most 5 dollars for a debit. */
function feeCents(amountCents: number, method: PaymentMethod): number {
  if (method.type === "us_bank_account") return Math.min(500, Math.round((amountCents * 8) / 1000));
  return Math.round((amountCents * 29) / 1000) + 30;
}

export function outcomeOf(refusal: Refusal | null): Charge["outcome"] {
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

/** Posts the money that a charge has brought. */
export function postCharge(
  context: Context,
  charge: Pick<Charge, "id" | "amount" | "currency" | "description">,
  method: PaymentMethod,
): BalanceTransaction {
  return postBalance(context, {
    type: method.type === "us_bank_account" ? "payment" : "charge",
    category: "charge",
    amountCents: charge.amount,
    feeCents: feeCents(charge.amount, method),
    currency: charge.currency,
    source: charge.id,
    description: charge.description,
  });
}

export function receiptUrl(context: Context, chargeId: string): string {
  return `${context.origin}/receipts/${chargeId}`;
}

/** Stores a charge as the bank has answered. A pending one has brought no money yet, though Stripe calls it captured. */
export function createCharge(
  context: Context,
  intent: PaymentIntent,
  method: PaymentMethod,
  answer: Refusal | "succeeded" | "pending",
): Charge {
  const refusal = answer === "succeeded" || answer === "pending" ? null : answer;
  // Other payments than by card have this prefix at Stripe.
  const id = newId(method.type === "us_bank_account" ? "py" : "ch");
  const { amount, currency, description } = intent;
  const transaction = answer === "succeeded" ? postCharge(context, { id, amount, currency, description }, method) : null;
  return context.store.insert("charge", {
    id,
    object: "charge",
    amount,
    amount_captured: refusal === null ? amount : 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: transaction?.id ?? null,
    billing_details: method.billing_details,
    calculated_statement_descriptor: "TESSERA",
    captured: refusal === null,
    created: context.now(),
    currency,
    customer: intent.customer,
    description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: refusal,
    failure_message: refusal === null ? null : messages[refusal],
    fraud_details: {},
    livemode: false,
    metadata: intent.metadata,
    on_behalf_of: null,
    outcome: outcomeOf(refusal),
    paid: answer === "succeeded",
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: methodDetails(method),
    receipt_email: null,
    receipt_number: null,
    receipt_url: answer === "succeeded" ? receiptUrl(context, id) : null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: refusal === null ? (answer === "pending" ? "pending" : "succeeded") : "failed",
    transfer_data: null,
    transfer_group: null,
  });
}
