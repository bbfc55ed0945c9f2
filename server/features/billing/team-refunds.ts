/**
 * An admin refunds a payment by card, or part of it. The credits are taken and the person is told in the same way as for a refund that
 * somebody makes at Stripe (sync-charge.ts).
 */
import type Stripe from "stripe";
import { DomainError } from "#domain/errors.ts";
import type { RefundPayment } from "../../contract/admin/people.ts";
import { recordAct } from "../../db/audit.ts";
import { findPayer } from "../../db/payer.ts";
import type { Deps } from "../../deps.ts";
import { isOtherContent, isRefused, orUnavailable } from "../../providers/stripe.ts";
import type { Clerk } from "../team/service.ts";
import { selectOwnInvoice } from "./invoice-queries.ts";
import { ensureLeaseRow, whileAlone } from "./payments-lease.ts";
import { lostCentsOf, syncCharge } from "./sync-charge.ts";

type RefundDeps = Pick<Deps, "db" | "payments" | "clock" | "log">;

const nothingLeft = () => new DomainError("nothing_to_refund", "So much is not left of this payment, or it was not made by card");

/** The charge that paid the invoice. Undefined if none did. */
async function readCharge({ payments }: Pick<Deps, "payments">, invoice: string): Promise<Stripe.Charge | undefined> {
  const expand = ["data.payment.payment_intent.latest_charge"];
  const { data } = await payments.invoicePayments.list({ invoice, status: "paid", limit: 10, expand });
  const charges = data.map(({ payment: { payment_intent: intent } }) => (typeof intent === "object" ? intent?.latest_charge : undefined));
  return charges.find((charge) => typeof charge === "object" && charge !== null) as Stripe.Charge | undefined;
}

/** Throws if the admin saw other figures than Stripe has, and if less than the amount is left. */
async function chargeToRefund(deps: RefundDeps, { invoiceId, amountCents, refundedCents }: RefundPayment): Promise<string> {
  const charge = await readCharge(deps, invoiceId);
  if (!charge) throw nothingLeft();
  if (charge.amount_refunded !== refundedCents)
    throw new DomainError("preview_outdated", "Money of this payment went back meanwhile. Nothing was refunded now; look at it again");
  const disputes = await deps.payments.disputes.list({ charge: charge.id, limit: 100 });
  if (amountCents > charge.amount_captured - refundedCents - lostCentsOf(disputes.data)) throw nothingLeft();
  return charge.id;
}

async function create({ payments }: RefundDeps, charge: string, { amountCents: amount, key }: RefundPayment): Promise<void> {
  try {
    await payments.refunds.create(
      { charge, amount, reason: "requested_by_customer", metadata: { by: "team" } },
      { idempotencyKey: `team-refund:${key}` },
    );
  } catch (error) {
    if (isOtherContent(error)) throw new DomainError("idempotency_conflict", "This refund was asked for with another amount");
    // A dispute has the money, or there is too little of it on the account at Stripe.
    if (isRefused(error)) throw new DomainError("refund_refused", `The payment provider refuses: ${(error as Error).message}`);
    throw error;
  }
}

/**
 * Throws `not_found` for an invoice that is not the person's, `preview_outdated`, `nothing_to_refund`, `refund_refused`, `conflict` while the
 * account's payments are checked or refunded by somebody else, and `payment_provider_unavailable`. The audit log gets the refund before Stripe
 * does, so that every refund has a reason there.
 */
export async function refundPayment(deps: RefundDeps, clerk: Clerk, userId: string, refund: RefundPayment): Promise<void> {
  const { invoiceId, amountCents, reason } = refund;
  const payerId = await findPayer(deps.db, userId);
  const invoice = await selectOwnInvoice(deps.db, userId, invoiceId);
  if (payerId === undefined || !invoice) throw new DomainError("not_found", "There is no such invoice");
  await ensureLeaseRow(deps.db, payerId);
  const done = await whileAlone(deps.db, payerId, () =>
    orUnavailable(deps.log, async () => {
      const charge = await chargeToRefund(deps, refund);
      const act = { actor: clerk.userId, subject: userId, action: "refund.asked", network: clerk.network } as const;
      await recordAct(deps.db, { ...act, details: { invoiceId, amountCents }, reason });
      await create(deps, charge, refund);
      await syncCharge(deps, charge);
    }),
  );
  if (!done)
    throw new DomainError("conflict", "Somebody checks or refunds this person's payments at the moment. Try again in a few seconds");
}
