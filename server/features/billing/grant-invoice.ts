/** Credits for paid invoices: nothing else gives plan credits. */

import type { Selectable } from "kysely";
import { sql } from "kysely";
import type Stripe from "stripe";
import { addMilliseconds, addMonths, hourMs } from "#domain/clock.ts";
import type { BillingInterval, Plan } from "#domain/plans.ts";
import { renewalOverlapHours } from "#domain/plans.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { ScheduledGrants } from "../../db/types-billing.ts";
import { fromUnix, idOf } from "../../providers/stripe.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";
import { endOlderPlanGrants, openPlanGrants, postGrant } from "../credits/service.ts";

/** A line that sells one period of a plan. */
export interface PlanLine {
  id: string;
  plan: Plan;
  interval: BillingInterval;
  period: { start: number; end: number };
}

const monthsOfYear = 12;

/** Plan credits expire a day after their month, because a renewal's invoice stays a draft for an hour before it is paid. */
function expiryOf(periodEnd: Date): Date {
  return addMilliseconds(periodEnd, renewalOverlapHours * hourMs);
}

interface MonthlyGrant {
  key: string;
  credits: number;
  dueAt: Date;
  expiresAt: Date;
}

/** The grants a paid line stands for: one a month, twelve for a year, on the original day of the month in UTC. */
function grantsOfLine(invoiceId: string, line: PlanLine): MonthlyGrant[] {
  const start = fromUnix(line.period.start);
  const credits = line.plan.monthlyCredits;
  if (line.interval === "month") {
    return [{ key: `grant:${invoiceId}:${line.id}`, credits, dueAt: start, expiresAt: expiryOf(fromUnix(line.period.end)) }];
  }
  return Array.from({ length: monthsOfYear }, (_, month) => ({
    key: `month:${invoiceId}:${line.id}:${month}`,
    credits,
    dueAt: addMonths(start, month),
    expiresAt: expiryOf(addMonths(start, month + 1)),
  }));
}

/**
 * Posts a month's plan credits and ends the other months', so that one month's are open at a time. Of the months that are
 * open the latest stays, whichever was posted first: a late event of an older month can't end a newer one.
 */
export async function postPlanGrant(trx: Trx, grant: MonthlyGrant & { userId: string }, now: Date): Promise<void> {
  await postGrant(trx, { userId: grant.userId, kind: "plan", credits: grant.credits, expiresAt: grant.expiresAt, key: grant.key }, now);
  const open = await openPlanGrants(trx, grant.userId);
  const latest = open.reduce((found, candidate) => (candidate.expires_at > found.expires_at ? candidate : found), {
    source_key: grant.key,
    expires_at: grant.expiresAt,
  });
  await endOlderPlanGrants(trx, grant.userId, [latest.source_key], now);
}

async function insertScheduled(trx: Trx, userId: string, grants: readonly MonthlyGrant[]): Promise<void> {
  if (grants.length === 0) return;
  await trx
    .insertInto("scheduled_grants")
    .values(
      grants.map((grant) => ({
        key: grant.key,
        user_id: userId,
        credits: grant.credits,
        due_at: grant.dueAt,
        expires_at: grant.expiresAt,
        posted_at: null,
        cancelled_at: null,
      })),
    )
    .onConflict((conflict) => conflict.column("key").doNothing())
    .execute();
}

async function insertPaidInvoice(trx: Trx, userId: string, invoice: Stripe.Invoice, now: Date): Promise<void> {
  const paidAt = invoice.status_transitions.paid_at;
  await trx
    .insertInto("paid_invoices")
    .values({
      id: invoice.id,
      user_id: userId,
      stripe_subscription_id: idOf(invoice.parent?.subscription_details?.subscription) ?? null,
      stripe_customer_id: idOf(invoice.customer) ?? "",
      amount_paid_cents: invoice.amount_paid,
      billing_reason: invoice.billing_reason,
      paid_at: paidAt ? fromUnix(paidAt) : now,
      recorded_at: now,
    })
    .execute();
}

/** Records a paid invoice and posts what it paid for. The caller holds the person's lock and has seen that it is not recorded yet. */
export async function grantPaidInvoice(
  trx: Trx,
  userId: string,
  invoice: Stripe.Invoice,
  lines: readonly PlanLine[],
  now: Date,
): Promise<void> {
  await insertPaidInvoice(trx, userId, invoice, now);
  for (const line of lines) {
    const [first, ...later] = grantsOfLine(invoice.id, line);
    if (first) await postPlanGrant(trx, { ...first, userId }, now);
    await insertScheduled(trx, userId, later);
  }
}

/** Months to come end with the subscription; those that were due before its end are still owed. */
export async function cancelScheduledGrants(trx: Trx, subscriptionId: string, endedAt: Date, now: Date): Promise<void> {
  await trx
    .updateTable("scheduled_grants")
    .set({ cancelled_at: now })
    .where("posted_at", "is", null)
    .where("cancelled_at", "is", null)
    .where("due_at", ">=", endedAt)
    .where((e) =>
      e(
        e.fn<string>("split_part", ["key", e.val(":"), e.val(2)]),
        "in",
        e.selectFrom("paid_invoices").select("id").where("stripe_subscription_id", "=", subscriptionId),
      ),
    )
    .execute();
}

export type ScheduledGrant = Selectable<ScheduledGrants>;

/** Oldest first. */
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

/** False: another worker was first, or the month was cancelled meanwhile. The caller holds the person's lock. */
export async function postScheduledGrant(trx: Trx, scheduled: ScheduledGrant, now: Date): Promise<boolean> {
  const taken = await trx
    .updateTable("scheduled_grants")
    .set({ posted_at: now })
    .where("key", "=", scheduled.key)
    .where("posted_at", "is", null)
    .where("cancelled_at", "is", null)
    .returning("user_id")
    .executeTakeFirst();
  if (!taken) return false;
  const { key, credits, due_at: dueAt, expires_at: expiresAt } = scheduled;
  await postPlanGrant(trx, { key, credits, dueAt, expiresAt, userId: taken.user_id }, now);
  return true;
}
