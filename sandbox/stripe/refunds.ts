import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, retrieveRoute } from "./api.ts";
import { postBalance } from "./balance.ts";
import type { Context } from "./context.ts";
import { invalidRequest, missingParameter } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import type { Parameters } from "./parameters.ts";
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
  if (charge.status !== "succeeded")
    throw invalidRequest(`Charge ${charge.id} has not succeeded, so there is nothing to refund.`, "charge", "charge_not_refundable");
  if (charge.refunded) throw invalidRequest(`Charge ${charge.id} has already been refunded.`, undefined, "charge_already_refunded");
  if (charge.disputed)
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
  const id = newId("re");
  const transaction = postBalance(context, {
    type: "refund",
    category: "refund",
    amountCents: -amountCents,
    feeCents: 0,
    currency: charge.currency,
    source: id,
    description: "REFUND FOR CHARGE",
  });
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
    destination_details: {
      type: "card",
      card: { reference_status: "pending", reference_type: "acquirer_reference_number", type: "refund" },
    },
    metadata,
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: "succeeded",
    transfer_reversal: null,
  };
  context.store.insert("refund", refund);
  emit(context, "refund.created", refund);
  const amountRefunded = charge.amount_refunded + amountCents;
  saveChange(context, "charge", "charge.refunded", {
    ...charge,
    amount_refunded: amountRefunded,
    refunded: amountRefunded === charge.amount,
  });
  return refund;
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
