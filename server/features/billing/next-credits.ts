import { addMilliseconds, addMonths, hourMs } from "#domain/clock.ts";
import { plans, renewalOverlapHours } from "#domain/plans.ts";
import type { Executor } from "../../db/transaction.ts";
import type { SubscriptionRow } from "../../db/types-billing.ts";
import * as queries from "./queries.ts";
import { isPaidByTransfer } from "./transfer-queries.ts";

/** Whether the period's credits wait for a bank transfer: they come when it is recorded, and nobody knows when that is. */
async function waitsForTransfer(executor: Executor, row: SubscriptionRow): Promise<boolean> {
  const { stripe_subscription_id: id, current_period_start: start } = row;
  // Other plans are not sold by transfer.
  if (row.plan_key !== plans.enterprise.key) return false;
  return (await isPaidByTransfer(executor, id)) && !(await queries.hasPaidPeriod(executor, id, start));
}

/** Whether the period has just begun, and what it costs is not paid yet: a renewal's invoice is a draft for its first hour. */
async function waitsForInvoice(executor: Executor, row: SubscriptionRow, now: Date): Promise<boolean> {
  const { stripe_subscription_id: id, current_period_start: start } = row;
  if (now < start || now >= addMilliseconds(start, renewalOverlapHours * hourMs)) return false;
  return !(await queries.hasPaidPeriod(executor, id, start));
}

/**
 * An annual plan's credits come month by month. After its last month, and for monthly plans, they come with the renewal. If the period has
 * just begun, its first credits are due now and wait only for Stripe to finalise the invoice. An annual plan for which no months are
 * scheduled, though more than a month is left, has just begun, too.
 */
export async function nextCreditsAt(executor: Executor, row: SubscriptionRow, now: Date): Promise<Date | null> {
  const isAnnual = row.billing_interval === "year";
  const scheduled = isAnnual ? await queries.selectNextScheduledGrant(executor, row.user_id) : undefined;
  if (scheduled) return scheduled.due_at;
  if (row.status !== "active" || (await waitsForTransfer(executor, row))) return null;
  if (await waitsForInvoice(executor, row, now)) return now;
  if (row.cancel_at_period_end) return null;
  return isAnnual && addMonths(now, 1) < row.current_period_end ? now : row.current_period_end;
}
