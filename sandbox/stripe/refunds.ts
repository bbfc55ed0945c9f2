import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, retrieveRoute } from "./api.ts";
import { postBalance } from "./balance.ts";
import type { Context } from "./context.ts";
import { hourSeconds } from "./context.ts";
import { isInquiry } from "./disputes.ts";
import { invalidRequest, missingParameter } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import type { CardBehaviour } from "./kinds.ts";
import type { Parameters } from "./parameters.ts";
import { isBankDebit } from "./payment-methods.ts";
import { afterBusinessDays } from "./periods.ts";
import type { Charge, Refund } from "./wire.ts";

function chargeToRefund(context: Context, parameters: Parameters): Charge {
  const chargeId = parameters.text("charge");
  const intentId = parameters.text("payment_intent");
  if (chargeId) return context.store.reference("charge", chargeId, "charge");
  if (!intentId) throw missingParameter("payment_intent");
  const intent = context.store.reference("payment_intent", intentId, "payment_intent");
  if (intent.status !== "succeeded" || typeof intent.latest_charge !== "string") {
    throw invalidRequest(`This PaymentIntent (${intentId}) does not have a successful charge to refund.`, "payment_intent");
  }
  return context.store.get("charge", intent.latest_charge);
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}

function create({ context, parameters }: ApiCall): Refund {
  const charge = chargeToRefund(context, parameters);
  const amount = parameters.integer("amount", 1);
  const reason = parameters.oneOf("reason", ["duplicate", "fraudulent", "requested_by_customer"]) ?? null;
  const metadata = parameters.metadata("metadata");
  if (charge.status === "pending")
    throw invalidRequest(
      `Charge ${charge.id} is pending. Stripe would send its refund once the debit has succeeded, and the sandbox does not play that.`,
      "charge",
      "charge_not_refundable",
    );
  if (charge.status !== "succeeded")
    throw invalidRequest(`Charge ${charge.id} has not succeeded, so there is nothing to refund.`, "charge", "charge_not_refundable");
  if (charge.refunded) throw invalidRequest(`Charge ${charge.id} has already been refunded.`, undefined, "charge_already_refunded");
  if (charge.disputed && !isInquiry(context, charge.id))
    throw invalidRequest(`Charge ${charge.id} has been charged back; cannot issue a refund.`, undefined, "charge_disputed");
  const left = charge.amount - charge.amount_refunded;
  const refunded = amount ?? left;
  if (refunded > left)
    throw invalidRequest(`Refund amount (${dollars(refunded)}) is greater than unrefunded amount on charge (${dollars(left)})`, "amount");
  return refundCharge(context, charge, refunded, reason, metadata);
}

function refundCharge(
  context: Context,
  charge: Charge,
  amountCents: number,
  reason: Refund["reason"],
  metadata: Record<string, string>,
): Refund {
  const isBank = isBankDebit(cardOf(context, charge));
  const id = newId(isBank ? "pyr" : "re");
  const later = laterOutcome(context, charge);
  const transaction = postBalance(context, {
    type: isBank ? "payment_refund" : "refund",
    category: "refund",
    amountCents: -amountCents,
    feeCents: 0,
    currency: charge.currency,
    source: id,
    description: "REFUND FOR CHARGE",
  });
  // A card of `failing_refund` says "succeeded" first, as Stripe's does.
  const refund: Refund = {
    id,
    object: "refund",
    amount: amountCents,
    balance_transaction: transaction.id,
    charge: charge.id,
    created: context.now(),
    currency: charge.currency,
    customer: charge.customer,
    customer_account: null,
    destination_details: isBank
      ? { type: "us_bank_transfer", us_bank_transfer: { reference: null, reference_status: "pending" } }
      : { type: "card", card: { reference_status: "pending", reference_type: "acquirer_reference_number", type: "refund" } },
    metadata,
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: later === "succeeded" ? "pending" : "succeeded",
    transfer_reversal: null,
  };
  context.store.insert("refund", refund);
  emit(context, "refund.created", refund);
  if (later)
    context.store.plan(id, "settle_refund", isBank ? afterBusinessDays(context.now(), bankRefundDays) : context.now() + hourSeconds);
  const amountRefunded = charge.amount_refunded + amountCents;
  saveChange(context, "charge", "charge.refunded", {
    ...charge,
    amount_refunded: amountRefunded,
    refunded: amountRefunded === charge.amount,
  });
  return refund;
}

/** "Typically takes three working days" (support.stripe.com/questions/refunds-for-ach-direct-debit-payments). */
const bankRefundDays = 3;

function cardOf(context: Context, charge: Charge): CardBehaviour {
  return context.store.hidden("payment_method", String(charge.payment_method)).card;
}

/** What becomes of a refund an hour later, or after some days at a bank; undefined if it is settled at once. */
function laterOutcome(context: Context, charge: Charge): "succeeded" | "failed" | undefined {
  const card = cardOf(context, charge);
  if (card === "pending_refund" || isBankDebit(card)) return "succeeded";
  return card === "failing_refund" ? "failed" : undefined;
}

function announce(context: Context, refund: Refund): Refund {
  saveChange(context, "refund", "refund.updated", refund);
  emit(context, "charge.refund.updated", refund);
  return refund;
}

/** A pending refund arrives, or one that seemed to arrive comes back and its money is ours again. */
export function settleRefund(context: Context, id: string): void {
  const refund = context.store.get("refund", id);
  const charge = context.store.get("charge", String(refund.charge));
  if (laterOutcome(context, charge) === "succeeded") {
    announce(context, { ...refund, status: "succeeded" });
    return;
  }
  const returned = postBalance(context, {
    type: "refund_failure",
    category: "refund_failure",
    amountCents: refund.amount,
    feeCents: 0,
    currency: refund.currency,
    source: id,
    description: "REFUND FAILURE",
  });
  const failed = announce(context, {
    ...refund,
    status: "failed",
    failure_reason: "expired_or_canceled_card",
    failure_balance_transaction: returned.id,
  });
  emit(context, "refund.failed", failed);
  saveChange(context, "charge", "charge.updated", { ...charge, amount_refunded: charge.amount_refunded - refund.amount, refunded: false });
}

function update({ context, id, parameters }: ApiCall): Refund {
  const refund = context.store.get("refund", id);
  return saveChange(context, "refund", "refund.updated", { ...refund, metadata: parameters.metadata("metadata", refund.metadata ?? {}) });
}

export const refundRoutes: ApiRoute[] = [
  { method: "POST", url: "/v1/refunds", handle: create },
  { method: "POST", url: "/v1/refunds/:id", handle: update },
  listRoute("refund", "/v1/refunds", (parameters) => equalityFilters(parameters, { charge: "charge", payment_intent: "payment_intent" })),
  retrieveRoute("refund", "/v1/refunds"),
];
