import { addMonths } from "#domain/clock.ts";
import type { Executor } from "../../db/transaction.ts";
import type { SubscriptionRow } from "../../db/types-billing.ts";
import * as queries from "./queries.ts";

/**
 * An annual plan's credits come month by month. After its last month, and for monthly plans, they come with the renewal. An annual plan without
 * months to come before its last one has just begun: its first credits are due now, and wait only for Stripe to finalise the invoice.
 */
export async function nextCreditsAt(executor: Executor, row: SubscriptionRow, now: Date): Promise<Date | null> {
  const isAnnual = row.billing_interval === "year";
  const scheduled = isAnnual ? await queries.selectNextScheduledGrant(executor, row.user_id) : undefined;
  if (scheduled) return scheduled.due_at;
  if (row.status !== "active" || row.cancel_at_period_end) return null;
  return isAnnual && addMonths(now, 1) < row.current_period_end ? now : row.current_period_end;
}
