/** Posts the credits of paid invoices. No other code gives plan credits. */

import type { Selectable } from "kysely";
import { sql } from "kysely";
import type Stripe from "stripe";
import { addMilliseconds, addMonths, hourMs } from "#domain/clock.ts";
import type { BillingInterval, Plan } from "#domain/plans.ts";
import { monthsOfYear, renewalOverlapHours } from "#domain/plans.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { ScheduledGrants } from "../../db/types-billing.ts";
import { fromUnix, idOf } from "../../providers/stripe.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";
import { endOlderPlanGrants, openPlanGrants, postGrant } from "../credits/service.ts";
import { takeReturnedOfPosted } from "./charge-returns.ts";

export interface InvoiceLine {
  id: string;
  priceId: string | null;
  /** The plan and interval in our catalogue; undefined if the price is not one of ours. */
  sold: { plan: Plan; interval: BillingInterval } | undefined;
  proration: boolean;
  amountCents: number;
  /** Unix seconds. */
  period: { start: number; end: number };
}

export interface PaidInvoice {
  invoice: Stripe.Invoice;
  lines: readonly InvoiceLine[];
  /** Null if nothing had to be paid, or if it was paid outside Stripe. */
  chargeId: string | null;
}

/** Plan credits expire a day after their month, because a renewal's invoice stays a draft for an hour before it is paid. */
function expiryOf(periodEnd: Date): Date {
  return addMilliseconds(periodEnd, renewalOverlapHours * hourMs);
}

interface MonthlyGrant {
  key: string;
  credits: number;
  dueAt: Date;
  expiresAt: Date;
  invoiceId: string | null;
  invoiceLineId: string | null;
  /** Which month of a year; null if the line is for one month. */
  invoiceMonth: number | null;
  chargeId: string | null;
}

/**
 * The grants for a paid line: one for a month, twelve for a year, each on the original day of the month in UTC. Prorations and free lines
 * give no credits, because no period was sold.
 */
function grantsOfLine({ invoice, chargeId }: Pick<PaidInvoice, "invoice" | "chargeId">, line: InvoiceLine): MonthlyGrant[] {
  if (!line.sold || line.proration || line.amountCents <= 0) return [];
  const start = fromUnix(line.period.start);
  const same = { credits: line.sold.plan.monthlyCredits, invoiceId: invoice.id, invoiceLineId: line.id, chargeId };
  if (line.sold.interval === "month") {
    const whole = { key: `grant:${invoice.id}:${line.id}`, invoiceMonth: null };
    return [{ ...same, ...whole, dueAt: start, expiresAt: expiryOf(fromUnix(line.period.end)) }];
  }
  return Array.from({ length: monthsOfYear }, (_, month) => ({
    ...same,
    key: `month:${invoice.id}:${line.id}:${month}`,
    invoiceMonth: month,
    dueAt: addMonths(start, month),
    expiresAt: expiryOf(addMonths(start, month + 1)),
  }));
}

/**
 * Posts a month's plan credits and ends the grants of the other months, so that only one month is open at a time. The latest month stays
 * open, whichever was posted first, so that a late event about an older month can't end a newer one.
 */
async function postPlanGrant(trx: Trx, payerId: string, grant: MonthlyGrant, now: Date): Promise<void> {
  const { key, credits, expiresAt, invoiceId, invoiceLineId, invoiceMonth, chargeId } = grant;
  const source = { invoiceId, invoiceLineId, invoiceMonth, chargeId };
  const { grantId } = await postGrant(trx, { payerId, kind: "plan", credits, expiresAt, key, source }, now);
  const open = await openPlanGrants(trx, payerId);
  const latest = open.reduce((found, candidate) => (candidate.expires_at > found.expires_at ? candidate : found), {
    id: grantId,
    expires_at: expiresAt,
  });
  await endOlderPlanGrants(trx, payerId, latest.id, now);
}

async function insertScheduled(trx: Trx, payerId: string, grants: readonly MonthlyGrant[]): Promise<void> {
  if (grants.length === 0) return;
  await trx
    .insertInto("scheduled_grants")
    .values(
      grants.map((grant) => ({
        key: grant.key,
        billing_account_id: payerId,
        credits: grant.credits,
        due_at: grant.dueAt,
        expires_at: grant.expiresAt,
        posted_at: null,
        cancelled_at: null,
        invoice_id: grant.invoiceId,
        invoice_line_id: grant.invoiceLineId,
        invoice_month: grant.invoiceMonth,
        charge_id: grant.chargeId,
      })),
    )
    .onConflict((conflict) => conflict.column("key").doNothing())
    .execute();
}

/** Call it once for each invoice, with the account's lock held. */
export async function insertPaidInvoice(trx: Trx, payerId: string, invoice: Stripe.Invoice, now: Date): Promise<void> {
  const paidAt = invoice.status_transitions.paid_at;
  await trx
    .insertInto("paid_invoices")
    .values({
      id: invoice.id,
      billing_account_id: payerId,
      stripe_subscription_id: idOf(invoice.parent?.subscription_details?.subscription) ?? null,
      stripe_customer_id: idOf(invoice.customer) ?? "",
      amount_paid_cents: invoice.amount_paid,
      billing_reason: invoice.billing_reason,
      paid_at: paidAt ? fromUnix(paidAt) : now,
      recorded_at: now,
    })
    .execute();
}

async function insertLines(trx: Trx, { invoice, lines }: PaidInvoice): Promise<void> {
  if (lines.length === 0) return;
  await trx
    .insertInto("paid_invoice_lines")
    .values(
      lines.map((line) => ({
        invoice_id: invoice.id,
        id: line.id,
        stripe_price_id: line.priceId,
        plan_key: line.sold?.plan.key ?? null,
        billing_interval: line.sold?.interval ?? null,
        proration: line.proration,
        amount_cents: line.amountCents,
        period_start: fromUnix(line.period.start),
        period_end: fromUnix(line.period.end),
      })),
    )
    .execute();
}

/** Whether the credits of the line's period have expired. */
export function isOver(line: InvoiceLine, now: Date): boolean {
  return expiryOf(fromUnix(line.period.end)) <= now;
}

/** Posts the credits of the invoice's lines, each once however often it is called. The caller has locked the account. */
export async function postLineGrants(trx: Trx, payerId: string, paid: PaidInvoice, now: Date): Promise<void> {
  for (const line of paid.lines) {
    const [first, ...later] = grantsOfLine(paid, line);
    if (first) await postPlanGrant(trx, payerId, first, now);
    await insertScheduled(trx, payerId, later);
  }
  await takeReturnedOfPosted(trx, paid.chargeId, now);
}

/** Records a paid invoice with its lines and posts its credits. The caller has locked the account and checked that the invoice is not recorded. */
export async function grantPaidInvoice(trx: Trx, payerId: string, paid: PaidInvoice, now: Date): Promise<void> {
  await insertPaidInvoice(trx, payerId, paid.invoice, now);
  await insertLines(trx, paid);
  await postLineGrants(trx, payerId, paid, now);
}

/** Cancels the months that would be due after the subscription's end. Earlier ones are still posted. */
export async function cancelScheduledGrants(trx: Trx, subscriptionId: string, endedAt: Date, now: Date): Promise<void> {
  await trx
    .updateTable("scheduled_grants")
    .set({ cancelled_at: now })
    .where("posted_at", "is", null)
    .where("cancelled_at", "is", null)
    .where("due_at", ">=", endedAt)
    .where("invoice_id", "in", (e) => e.selectFrom("paid_invoices").select("id").where("stripe_subscription_id", "=", subscriptionId))
    .execute();
}

/** Cancels all months of an invoice that are not posted, those that are due already too: its money goes back, and no charge takes them later. */
export async function cancelUnposted(trx: Trx, invoiceId: string, now: Date): Promise<void> {
  const unposted = trx.updateTable("scheduled_grants").set({ cancelled_at: now }).where("invoice_id", "=", invoiceId);
  await unposted.where("posted_at", "is", null).where("cancelled_at", "is", null).execute();
}

export type ScheduledGrant = Selectable<ScheduledGrants>;

/** The months of annual plans that are due, oldest first. */
export async function selectDueScheduledGrants(executor: Executor, now: Date, limit: number): Promise<ScheduledGrant[]> {
  return executor
    .selectFrom("scheduled_grants")
    .selectAll()
    .where("posted_at", "is", null)
    .where("cancelled_at", "is", null)
    .where("due_at", "<=", now)
    .where(notSetAside("scheduled-grants", sql`key`))
    .orderBy("due_at")
    .orderBy("key")
    .limit(limit)
    .execute();
}

/** Posts the month. Returns false if another worker was first or the month was cancelled meanwhile. The caller has locked the account. */
export async function postScheduledGrant(trx: Trx, scheduled: ScheduledGrant, now: Date): Promise<boolean> {
  const taken = await trx
    .updateTable("scheduled_grants")
    .set({ posted_at: now })
    .where("key", "=", scheduled.key)
    .where("posted_at", "is", null)
    .where("cancelled_at", "is", null)
    .returning("billing_account_id")
    .executeTakeFirst();
  if (!taken) return false;
  const grant = {
    key: scheduled.key,
    credits: scheduled.credits,
    dueAt: scheduled.due_at,
    expiresAt: scheduled.expires_at,
    invoiceId: scheduled.invoice_id,
    invoiceLineId: scheduled.invoice_line_id,
    invoiceMonth: scheduled.invoice_month,
    chargeId: scheduled.charge_id,
  };
  await postPlanGrant(trx, taken.billing_account_id, grant, now);
  await takeReturnedOfPosted(trx, scheduled.charge_id, now);
  return true;
}
