import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, retrieveRoute } from "./api.ts";
import { postBalance } from "./balance.ts";
import type { Context } from "./context.ts";
import { daySeconds } from "./context.ts";
import { invalidRequest, notPlayed } from "./errors.ts";
import { emit, saveChange } from "./events.ts";
import { newId } from "./ids.ts";
import type { Parameters } from "./parameters.ts";
import type { BalanceTransaction, Charge, Dispute } from "./wire.ts";

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

/** Why a cardholder disputes a charge. An `inquiry` only asks: it takes no money. */
interface Complaint {
  reason: "fraudulent" | "product_not_received";
  inquiry: boolean;
}
const fraudulent: Complaint = { reason: "fraudulent", inquiry: false };
const networkCodes = { fraudulent: "10.4", product_not_received: "13.1" } as const;
const answerDays = 7;

/** Whether the holder of this card disputes every charge, and why. */
export function disputeOf(context: Context, methodId: string): Complaint | undefined {
  const { card } = context.store.hidden("payment_method", methodId);
  if (card === "disputed_fraudulent") return fraudulent;
  if (card === "disputed_not_received") return { reason: "product_not_received", inquiry: false };
  return card === "inquiry" ? { reason: "product_not_received", inquiry: true } : undefined;
}

/** The bank takes the disputed money and a fee. */
function withdraw(context: Context, dispute: Dispute): BalanceTransaction {
  return postBalance(context, {
    type: "adjustment",
    category: "dispute",
    amountCents: -dispute.amount,
    feeCents: disputeFeeCents,
    currency: dispute.currency,
    source: dispute.id,
    description: `Chargeback withdrawal for ${String(dispute.charge)}`,
  });
}

/** The cardholder disputes the part of the charge that was not refunded. Unless it is an inquiry, the money and a fee are taken at once. */
export function openDispute(context: Context, chargeId: string, { reason, inquiry }: Complaint = fraudulent): Dispute {
  const charge: Charge = context.store.get("charge", chargeId, "charge");
  if (charge.status !== "succeeded" || charge.refunded) throw invalidRequest(`Charge ${chargeId} holds no money to dispute.`, "charge");
  if (charge.disputed) throw invalidRequest(`Charge ${chargeId} is disputed already.`, "charge");
  if (charge.payment_method_details?.type !== "card")
    throw notPlayed("charge", "one of a card: disputes of bank debits have their own rules");
  const dueBy = context.now() + answerDays * daySeconds;
  const dispute: Dispute = {
    id: newId("du"),
    object: "dispute",
    amount: charge.amount - charge.amount_refunded,
    balance_transactions: [],
    charge: charge.id,
    created: context.now(),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: noEvidence,
    evidence_details: {
      due_by: dueBy,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: "not_submitted",
    },
    intended_submission_method: null,
    is_charge_refundable: inquiry,
    livemode: false,
    metadata: {},
    network_reason_code: networkCodes[reason],
    payment_intent: charge.payment_intent,
    payment_method_details: {
      type: "card",
      card: { brand: "visa", case_type: inquiry ? "inquiry" : "chargeback", network: "visa", network_reason_code: networkCodes[reason] },
    },
    reason,
    status: inquiry ? "warning_needs_response" : "needs_response",
  };
  const opened = inquiry ? dispute : { ...dispute, balance_transactions: [withdraw(context, dispute)] };
  context.store.insert("dispute", opened);
  context.store.plan(opened.id, "end_dispute", dueBy);
  saveChange(context, "charge", "charge.updated", { ...charge, disputed: true });
  emit(context, "charge.dispute.created", opened);
  if (!inquiry) emit(context, "charge.dispute.funds_withdrawn", opened);
  return opened;
}

/** The dispute that a test card opens by itself. */
export function openCardsDispute(context: Context, chargeId: string): void {
  const charge = context.store.get("charge", chargeId);
  const complaint = disputeOf(context, String(charge.payment_method));
  if (complaint && !charge.refunded && !charge.disputed) openDispute(context, chargeId, complaint);
}

const closedStatuses: readonly Dispute["status"][] = ["won", "lost", "warning_closed"];
const inquiryStatuses: readonly Dispute["status"][] = ["warning_needs_response", "warning_under_review"];

/** Whether the charge was only asked about, so that it can still be refunded. */
export function isInquiry(context: Context, chargeId: string): boolean {
  const disputes = context.store.where("dispute", [{ path: "charge", operator: "=", value: chargeId }]);
  return disputes.every((dispute) => dispute.is_charge_refundable);
}

/** Nobody answered in time: a dispute is lost, and an inquiry ends. */
export function endUnanswered(context: Context, disputeId: string): void {
  const dispute = context.store.get("dispute", disputeId);
  const late = { ...dispute, evidence_details: { ...dispute.evidence_details, past_due: true } };
  if (dispute.status === "warning_needs_response") close(context, { ...late, status: "warning_closed" });
  if (dispute.status === "needs_response") close(context, { ...late, status: "lost" });
}

function close(context: Context, dispute: Dispute): Dispute {
  context.store.unplan(dispute.id);
  return saveChange(context, "dispute", "charge.dispute.closed", dispute);
}

/** Closes a dispute, once. If it is won, the money and the fee are returned. An inquiry ends, whatever its outcome. */
export function closeDispute(context: Context, disputeId: string, outcome: "won" | "lost"): Dispute {
  const dispute = context.store.get("dispute", disputeId, "dispute");
  if (closedStatuses.includes(dispute.status)) throw invalidRequest(`Dispute ${disputeId} is already closed.`, "dispute");
  if (inquiryStatuses.includes(dispute.status)) return close(context, { ...dispute, status: "warning_closed" });
  if (outcome === "lost") return close(context, { ...dispute, status: "lost" });
  const returned = postBalance(context, {
    type: "adjustment",
    category: "dispute_reversal",
    amountCents: dispute.amount,
    feeCents: -disputeFeeCents,
    currency: dispute.currency,
    source: disputeId,
    description: `Chargeback reversal for ${String(dispute.charge)}`,
  });
  const won = close(context, { ...dispute, status: "won", balance_transactions: [...dispute.balance_transactions, returned] });
  emit(context, "charge.dispute.funds_reinstated", won);
  return won;
}

/** The sandbox takes only the text of the evidence, because Stripe's test mode decides by it. */
function readEvidence(dispute: Dispute, parameters: Parameters): Dispute["evidence"] {
  const evidence = parameters.object("evidence");
  if (!evidence) return dispute.evidence;
  evidence.refuse(...Object.keys(noEvidence).filter((field) => field !== "uncategorized_text"));
  return { ...dispute.evidence, uncategorized_text: evidence.text("uncategorized_text") ?? dispute.evidence.uncategorized_text };
}

function update({ context, id, parameters }: ApiCall): Dispute {
  const dispute = context.store.get("dispute", id, "dispute");
  const metadata = parameters.metadata("metadata", dispute.metadata);
  const evidence = readEvidence(dispute, parameters);
  // Evidence is submitted with the call that brings it, unless the call says that it is only a draft.
  const submits = parameters.boolean("submit") ?? parameters.has("evidence");
  const details = { ...dispute.evidence_details, has_evidence: evidence.uncategorized_text !== null };
  const draft = { ...dispute, metadata, evidence, evidence_details: details };
  if (!submits) return saveChange(context, "dispute", "charge.dispute.updated", draft);
  if (dispute.status !== "needs_response" && dispute.status !== "warning_needs_response")
    throw invalidRequest("This dispute's evidence can no longer be submitted.", "submit");
  context.store.unplan(id);
  const submitted = saveChange(context, "dispute", "charge.dispute.updated", {
    ...draft,
    status: dispute.status === "needs_response" ? "under_review" : "warning_under_review",
    evidence_details: { ...details, submission_count: details.submission_count + 1, submission_method: "manual" },
  });
  const text = evidence.uncategorized_text;
  if (text === "winning_evidence" || text === "losing_evidence")
    return closeDispute(context, id, text === "winning_evidence" ? "won" : "lost");
  return submitted;
}

export const disputeRoutes: ApiRoute[] = [
  listRoute("dispute", "/v1/disputes", (parameters) => equalityFilters(parameters, { charge: "charge", payment_intent: "payment_intent" })),
  retrieveRoute("dispute", "/v1/disputes"),
  { method: "POST", url: "/v1/disputes/:id", handle: update },
  // Closing a dispute through the API accepts it, so it is lost.
  { method: "POST", url: "/v1/disputes/:id/close", handle: ({ context, id }: ApiCall) => closeDispute(context, id, "lost") },
];
