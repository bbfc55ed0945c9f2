/** Reads what became of a charge's money, by refunds and disputes, and writes it under the charge's version. */
import type Stripe from "stripe";
import type { Trx } from "../../db/transaction.ts";
import type { ChargeReturnRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { idOf, orMissing } from "../../providers/stripe.ts";
import { balanceOf } from "../credits/service.ts";
import type { ChargeState } from "./charge-returns.ts";
import {
  freezeWhileDisputed,
  nothingReturned,
  saveChargeReturn,
  selectChargeReturn,
  selectTakenWhenAsked,
  takeReturnedCredits,
} from "./charge-returns.ts";
import { findPayerOfCustomer } from "./customers.ts";
import { mirrorInvoiceOfPayment } from "./mirror-invoice.ts";
import * as queries from "./queries.ts";
import { writeReading } from "./readings.ts";
import { mailReturned } from "./refund-mails.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log">;

/** States in which the bank has the money and has not decided. An inquiry (`warning_…`) has taken no money: it freezes nothing. */
const openDisputes: readonly Stripe.Dispute.Status[] = ["needs_response", "under_review"];

/** An appeal is of a lost dispute: the money stays with the cardholder unless the appeal is won. */
const lostDisputes: readonly Stripe.Dispute.Status[] = ["lost", "appeal_needs_response", "appeal_under_review"];

function sumOf(amounts: readonly { amount: number }[]): number {
  return amounts.reduce((sum, { amount }) => sum + amount, 0);
}

/** What the cardholder keeps of disputed payments. */
export function lostCentsOf(disputes: readonly Stripe.Dispute[]): number {
  return sumOf(disputes.filter(({ status }) => lostDisputes.includes(status)));
}

/** The first moment after which a dispute is decided without us. */
function evidenceDueAt(disputes: readonly Stripe.Dispute[]): Date | null {
  const due = disputes.flatMap(({ status, evidence_details: { due_by: dueBy } }) => (status === "needs_response" && dueBy ? [dueBy] : []));
  return due.length === 0 ? null : new Date(Math.min(...due) * 1_000);
}

interface Reading {
  state: ChargeState;
  /** That succeeded. */
  refunds: Stripe.Refund[];
  intentId: string | undefined;
}

/** Undefined if the charge took no money, or is of none of our customers. */
async function readCharge(deps: BillingDeps, chargeId: string): Promise<Reading | undefined> {
  const charge = await orMissing(deps.payments.charges.retrieve(chargeId));
  const customerId = idOf(charge?.customer);
  if (!charge?.paid || charge.amount_captured <= 0 || customerId === undefined) return undefined;
  const payerId = await findPayerOfCustomer(deps, customerId);
  if (payerId === undefined) {
    deps.log.warn({ charge: chargeId, customer: customerId }, "a returned charge of an unknown customer is left alone");
    return undefined;
  }
  const all = { limit: 1_000 };
  const listed = await deps.payments.refunds.list({ charge: chargeId, limit: 100 }).autoPagingToArray(all);
  const refunds = listed.filter(({ status }) => status === "succeeded");
  const disputes = await deps.payments.disputes.list({ charge: chargeId, limit: 100 }).autoPagingToArray(all);
  const state = {
    chargeId,
    payerId,
    paidCents: charge.amount_captured,
    refundedCents: sumOf(refunds),
    lostCents: lostCentsOf(disputes),
    disputed: disputes.some(({ status }) => openDisputes.includes(status)),
    evidenceDueAt: evidenceDueAt(disputes),
  };
  return { state, refunds, intentId: idOf(charge.payment_intent) };
}

function isChanged(state: ChargeState, row: ChargeReturnRow | undefined): boolean {
  const before = row ?? nothingReturned;
  return (
    state.refundedCents !== before.refunded_cents ||
    state.lostCents !== before.lost_cents ||
    state.disputed !== before.disputed ||
    state.evidenceDueAt?.getTime() !== before.evidence_due_at?.getTime()
  );
}

async function isLateCharge(trx: Trx, chargeId: string): Promise<boolean> {
  const request = trx.selectFrom("money_backs").select("id").where("charge_id", "=", chargeId).where("kind", "=", "late");
  return (await request.executeTakeFirst()) !== undefined;
}

async function writeCharge(trx: Trx, state: ChargeState, now: Date): Promise<void> {
  const { payerId } = state;
  await queries.lockSubject(trx, `billing:${payerId}`);
  const before = await selectChargeReturn(trx, state.chargeId);
  if (!isChanged(state, before)) return;
  const row = await saveChargeReturn(trx, state, (before?.version ?? 0) + 1, now);
  const takenNow = await takeReturnedCredits(trx, row, before ?? nothingReturned, now);
  const isFirstRefund = before === undefined && row.refunded_cents > 0;
  const taken = takenNow + (isFirstRefund ? await selectTakenWhenAsked(trx, { chargeId: state.chargeId }) : 0);
  // Otherwise a refund would free a wallet that an operator has frozen.
  if (row.disputed !== (before ?? nothingReturned).disputed) await freezeWhileDisputed(trx, payerId, now);
  const [late, balance] = [await isLateCharge(trx, state.chargeId), await balanceOf(trx, payerId)];
  await mailReturned(trx, { row, before: before ?? nothingReturned, late, taken, balance }, now);
}

/**
 * May run any number of times and in any order. Returns the charge's account; undefined if the charge is none of ours, or if another process
 * has just written it.
 */
export async function syncCharge(deps: BillingDeps, chargeId: string): Promise<string | undefined> {
  const written = await writeReading(
    deps,
    chargeId,
    () => readCharge(deps, chargeId),
    async (trx, reading) => {
      await writeCharge(trx, reading.state, deps.clock.now());
      return reading;
    },
  );
  if (written?.intentId !== undefined) await mirrorInvoiceOfPayment(deps, written.intentId, written.refunds);
  return written?.state.payerId;
}
