import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, retrieveRoute } from "./api.ts";
import { postBalance } from "./balance.ts";
import type { Context } from "./context.ts";
import { daySeconds } from "./context.ts";
import { invalidRequest } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import type { Charge, Dispute } from "./wire.ts";

/** Stripe's fee for a dispute; it is refunded if the dispute is won. */
const disputeFeeCents = 1500;

const noEvidence: Dispute["evidence"] = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
};

/** The cardholder disputes the part of the charge that was not refunded. The money and a fee are taken from the balance at once. */
export function openDispute(context: Context, chargeId: string): Dispute {
  const charge: Charge = context.store.get("charge", chargeId, "charge");
  if (charge.status !== "succeeded" || charge.refunded) throw invalidRequest(`Charge ${chargeId} holds no money to dispute.`, "charge");
  if (charge.disputed) throw invalidRequest(`Charge ${chargeId} is disputed already.`, "charge");
  const id = newId("du");
  const amountCents = charge.amount - charge.amount_refunded;
  const withdrawal = postBalance(context, {
    type: "adjustment",
    category: "dispute",
    amountCents: -amountCents,
    feeCents: disputeFeeCents,
    currency: charge.currency,
    source: id,
    description: `Chargeback withdrawal for ${chargeId}`,
  });
  const dispute: Dispute = {
    id,
    object: "dispute",
    amount: amountCents,
    balance_transactions: [withdrawal],
    charge: charge.id,
    created: context.now(),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: noEvidence,
    evidence_details: {
      due_by: context.now() + 7 * daySeconds,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: "not_submitted",
    },
    intended_submission_method: null,
    is_charge_refundable: false,
    livemode: false,
    metadata: {},
    network_reason_code: "10.4",
    payment_intent: charge.payment_intent,
    payment_method_details: {
      type: "card",
      card: { brand: "visa", case_type: "chargeback", network: "visa", network_reason_code: "10.4" },
    },
    reason: "fraudulent",
    status: "needs_response",
  };
  context.store.insert("dispute", dispute);
  saveChange(context, "charge", "charge.updated", { ...charge, disputed: true });
  emit(context, "charge.dispute.created", dispute);
  emit(context, "charge.dispute.funds_withdrawn", dispute);
  return dispute;
}

/** Closes a dispute, once. If it is won, the money and the fee are returned. */
export function closeDispute(context: Context, disputeId: string, outcome: "won" | "lost"): Dispute {
  const dispute = context.store.get("dispute", disputeId, "dispute");
  if (dispute.status === "won" || dispute.status === "lost") throw invalidRequest(`Dispute ${disputeId} is already closed.`, "dispute");
  if (outcome === "lost") return saveChange(context, "dispute", "charge.dispute.closed", { ...dispute, status: "lost" });
  const returned = postBalance(context, {
    type: "adjustment",
    category: "dispute_reversal",
    amountCents: dispute.amount,
    feeCents: -disputeFeeCents,
    currency: dispute.currency,
    source: disputeId,
    description: `Chargeback reversal for ${String(dispute.charge)}`,
  });
  const won = saveChange(context, "dispute", "charge.dispute.closed", {
    ...dispute,
    status: "won",
    balance_transactions: [...dispute.balance_transactions, returned],
  });
  emit(context, "charge.dispute.funds_reinstated", won);
  return won;
}

function update({ context, id, parameters }: ApiCall): Dispute {
  const dispute = context.store.get("dispute", id, "dispute");
  if (parameters.has("evidence") || parameters.has("submit"))
    throw invalidRequest("The sandbox takes no evidence: win or lose a dispute on its control endpoints.", "evidence");
  const metadata = parameters.metadata("metadata", dispute.metadata);
  return saveChange(context, "dispute", "charge.dispute.updated", { ...dispute, metadata });
}

export const disputeRoutes: ApiRoute[] = [
  listRoute("dispute", "/v1/disputes", (parameters) => equalityFilters(parameters, { charge: "charge", payment_intent: "payment_intent" })),
  retrieveRoute("dispute", "/v1/disputes"),
  { method: "POST", url: "/v1/disputes/:id", handle: update },
  // Closing a dispute through the API accepts it, so it is lost.
  { method: "POST", url: "/v1/disputes/:id/close", handle: ({ context, id }: ApiCall) => closeDispute(context, id, "lost") },
];
