import { randomUUID } from "node:crypto";
import type Stripe from "stripe";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { graceDays } from "#domain/plans.ts";
import type { Deps } from "../../deps.ts";
import { TakenElsewhere } from "../../failures.ts";
import { isPaidAlready, isRefused, orMissing } from "../../providers/stripe.ts";
import { graceEndOf } from "./renewal-mails.ts";
import { selectRecordedTransfers } from "./transfer-queries.ts";

/** Becomes part of the idempotency keys. */
type Reason =
  | "grace-over"
  | "account-deleted"
  | "money-back"
  | "transfer-reversed"
  | "transfer-overdue"
  | "ended-unpaid"
  | "never-paid"
  | "suspended";

type EndDeps = Pick<Deps, "db" | "payments">;

/** Whether the invoice can't be paid by the transfer any more: it is void, or was paid through Stripe. */
async function isSurplus({ payments }: Pick<Deps, "payments">, invoiceId: string): Promise<boolean> {
  const { status } = await payments.invoices.retrieve(invoiceId);
  if (status !== "paid") return status === "void";
  return (await payments.invoicePayments.list({ invoice: invoiceId, status: "paid", limit: 1 })).data.length > 0;
}

/** Whether a bank's debit for the invoice is on its way: its money may still come. */
async function isBeingPaid({ payments }: Pick<Deps, "payments">, invoiceId: string): Promise<boolean> {
  const expand = ["data.payment.payment_intent"];
  const { data } = await payments.invoicePayments.list({ invoice: invoiceId, status: "open", limit: 10, expand });
  return data.some(({ payment: { payment_intent: intent } }) => typeof intent === "object" && intent?.status === "processing");
}

/**
 * Marks the invoice of a recorded transfer as paid at Stripe. May be repeated. `surplus`: Stripe refuses, because the invoice was voided or paid by
 * card after the transfer was recorded, or just before. Throws TakenElsewhere while a bank's debit for it is on its way: what becomes of the debit
 * decides what the transfer is for.
 */
export async function payByTransfer({ payments }: Pick<Deps, "payments">, transfer: { invoice_id: string }): Promise<"paid" | "surplus"> {
  // A key of its own for each try: for one key Stripe would repeat a refusal for a day, though its cause has gone. An invoice is paid once anyway.
  const key = { idempotencyKey: randomUUID() };
  try {
    await payments.invoices.pay(transfer.invoice_id, { paid_out_of_band: true }, key);
  } catch (error) {
    if (!isRefused(error)) throw error;
    if (await isSurplus({ payments }, transfer.invoice_id)) return "surplus";
    if (isPaidAlready(error)) return "paid";
    if (await isBeingPaid({ payments }, transfer.invoice_id))
      throw new TakenElsewhere(`a bank's debit for ${transfer.invoice_id} is on its way`, { cause: error });
    throw error;
  }
  return "paid";
}

/**
 * The subscription's open invoices. Those whose transfer is recorded are marked as paid first, if the job of the record has not done that yet:
 * their money is there, so they must not be taken for unpaid. Returns the others, and whether any was paid.
 */
async function readUnpaid({ db, payments }: EndDeps, subscriptionId: string): Promise<{ unpaid: Stripe.Invoice[]; paidNow: boolean }> {
  const { data: open } = await payments.invoices.list({ subscription: subscriptionId, status: "open", limit: 100 });
  const recorded = open.length === 0 ? [] : await selectRecordedTransfers(db, subscriptionId);
  const paid = recorded.filter((transfer) => open.some(({ id }) => id === transfer.invoice_id));
  for (const transfer of paid) await payByTransfer({ payments }, transfer);
  return { unpaid: open.filter(({ id }) => !paid.some((transfer) => transfer.invoice_id === id)), paidNow: paid.length > 0 };
}

/** Whether money of a recorded transfer was just taken into account, so that the subscription may not be unpaid any more. */
export async function payRecorded(deps: EndDeps, subscriptionId: string): Promise<boolean> {
  return (await readUnpaid(deps, subscriptionId)).paidNow;
}

/** We don't wait for a first payment, and for others twice the days of grace at most, as Stripe may begin one debit after another. */
async function waitsForBank(deps: EndDeps, invoice: Stripe.Invoice, now: Date): Promise<boolean> {
  const isLate = now >= addMilliseconds(graceEndOf(invoice), graceDays * dayMs);
  return invoice.billing_reason !== "subscription_create" && !isLate && (await isBeingPaid(deps, invoice.id));
}

/**
 * Whether the money for an unpaid renewal is there after all at the end of its grace. `paid`: a recorded transfer was just taken into account.
 * `on its way`: the bank has not answered a debit. Both come from one reading, because a second one would find no new transfers.
 */
export async function lookForMoney(deps: EndDeps, subscriptionId: string, now: Date): Promise<"paid" | "on its way" | "none"> {
  const { unpaid, paidNow } = await readUnpaid(deps, subscriptionId);
  if (paidNow) return "paid";
  for (const invoice of unpaid) if (await waitsForBank(deps, invoice, now)) return "on its way";
  return "none";
}

/**
 * Voids a subscription's unpaid invoices, so that nobody pays for an ended subscription. One for which a debit is on its way is left until the
 * bank has answered: the event of that leads here again if the debit fails.
 */
export async function voidUnpaid(deps: EndDeps, subscriptionId: string, because: Reason): Promise<void> {
  const { unpaid } = await readUnpaid(deps, subscriptionId);
  for (const invoice of unpaid) {
    if (await isBeingPaid(deps, invoice.id)) continue;
    await deps.payments.invoices.voidInvoice(invoice.id, {}, { idempotencyKey: `${because}:${invoice.id}` });
  }
}

/** Ends the subscription at Stripe and voids its unpaid invoices. */
export async function endAtStripe(deps: EndDeps, subscriptionId: string, because: Reason): Promise<void> {
  // Stripe may have ended it at the same moment. Then there is nothing to cancel.
  await orMissing(
    deps.payments.subscriptions.cancel(
      subscriptionId,
      { prorate: false, invoice_now: false },
      { idempotencyKey: `${because}:${subscriptionId}` },
    ),
  );
  await voidUnpaid(deps, subscriptionId, because);
}
