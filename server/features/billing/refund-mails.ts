/** The mails about returned money. Each is queued in the transaction that takes or gives back the credits. */
import type { Trx } from "../../db/transaction.ts";
import type { ChargeReturnRow } from "../../db/types-billing.ts";
import type { MailParameters } from "../notifications/templates.ts";
import { mailPayer } from "./mails.ts";

type Template = "payment-refunded" | "refund-failed" | "dispute-opened" | "dispute-closed";

interface Change {
  row: ChargeReturnRow;
  before: Pick<ChargeReturnRow, "refunded_cents" | "lost_cents" | "disputed">;
  /** The charge was paid for a plan that had ended, so that all of it goes back by itself. */
  late: boolean;
  /** Credits that were taken, less those that were given back. */
  taken: number;
  /** The wallet's balance after it. */
  balance: number;
}

async function mailTo<T extends Template>(
  trx: Trx,
  row: ChargeReturnRow,
  template: T,
  parameters: MailParameters[T],
  now: Date,
): Promise<void> {
  await mailPayer(trx, row.billing_account_id, { key: `${template}:${row.charge_id}:${row.version}`, template, parameters }, now);
}

/** Says what happened since the row before: refunds that arrived or failed, a dispute that was opened or decided. */
export async function mailReturned(trx: Trx, { row, before, late, taken, balance }: Change, now: Date): Promise<void> {
  const refunded = row.refunded_cents - before.refunded_cents;
  const lost = row.lost_cents - before.lost_cents;
  const credits = { credits: Math.abs(taken), left: balance };
  const variant = balance < 0 ? "debt" : "left";
  if (refunded > 0)
    await mailTo(trx, row, "payment-refunded", { amountCents: refunded, ...credits, variant: late ? "late" : variant }, now);
  if (refunded < 0) await mailTo(trx, row, "refund-failed", { amountCents: -refunded, ...credits }, now);
  if (row.disputed && !before.disputed) await mailTo(trx, row, "dispute-opened", { amountCents: row.paid_cents }, now);
  if (lost > 0) await mailTo(trx, row, "dispute-closed", { amountCents: lost, ...credits, variant }, now);
  else if (before.disputed && !row.disputed)
    await mailTo(trx, row, "dispute-closed", { amountCents: row.paid_cents, ...credits, variant: "won" }, now);
}
