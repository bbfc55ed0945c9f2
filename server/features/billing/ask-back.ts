/**
 * Money that a person asks back by themselves, by the money-back guarantee (decision 51) or by withdrawing from a contract (decision 53), and money
 * that goes back without being asked for, because it was paid for a plan that had ended (decision 110). The request is written in a transaction,
 * which takes the credits too; its job (pay-back.ts) does the rest.
 */
import type { Trx } from "../../db/transaction.ts";
import type { MoneyBackKind } from "../../db/types-billing.ts";
import { enqueue } from "../../queue/outbox.ts";
import type { AskedReason } from "./charge-returns.ts";
import { takeAskedCredits } from "./charge-returns.ts";
import type { PaidInvoice } from "./grant-invoice.ts";
import { cancelUnposted } from "./grant-invoice.ts";

/** A payment that can be asked back once. Either its charge or its transfer is known. */
export interface Returnable {
  invoiceId: string;
  chargeId: string | null;
  /** The bank's reference of the transfer that paid it. */
  transferReference: string | null;
  /** The subscription that ends when the money goes back; null for a pack, or if it has ended. */
  subscriptionId: string | null;
  paidCents: number;
  /** What went back already. */
  returnedCents: number;
}

/** Only a transfer is a surplus, and it bought nothing (transfer-returns.ts). */
type AskedKind = Exclude<MoneyBackKind, "surplus">;

const reasons: Readonly<Record<AskedKind, AskedReason>> = { guarantee: "guarantee", withdrawal: "withdrawal", late: "late_payment" };

interface Request {
  payerId: string;
  kind: AskedKind;
  amountCents: number;
}

/** Writes the request with its job, and takes the credits. The caller has locked the account, and seen that nobody asked for this payment. */
export async function askBack(trx: Trx, payment: Returnable, { payerId, kind, amountCents }: Request, now: Date): Promise<void> {
  const { id: requestId } = await trx
    .insertInto("money_backs")
    .values({
      kind,
      billing_account_id: payerId,
      invoice_id: payment.invoiceId,
      charge_id: payment.chargeId,
      transfer_reference: payment.transferReference,
      stripe_subscription_id: payment.subscriptionId,
      amount_cents: amountCents,
      asked_at: now,
      done_at: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const { chargeId, invoiceId, paidCents, returnedCents } = payment;
  const paidBy = chargeId === null ? { invoiceId } : { chargeId };
  await takeAskedCredits(trx, { paidBy, reason: reasons[kind], paidCents, returnedCents: returnedCents + amountCents }, now);
  if (chargeId === null) await cancelUnposted(trx, invoiceId, now);
  await enqueue(trx, "pay-back", { requestId });
}

/**
 * Sends back what was paid for a plan after its end: a debit that was on its way, or a payment in the moment in which the plan ended. The caller
 * has locked the account and posted the invoice's credits, which nobody could have spent yet.
 */
export async function returnLate(trx: Trx, payerId: string, { invoice, chargeId }: PaidInvoice, now: Date): Promise<void> {
  await cancelUnposted(trx, invoice.id, now);
  const paidCents = invoice.amount_paid;
  const payment = { invoiceId: invoice.id, chargeId, transferReference: null, subscriptionId: null, paidCents, returnedCents: 0 };
  await askBack(trx, payment, { payerId, kind: "late", amountCents: paidCents }, now);
}
