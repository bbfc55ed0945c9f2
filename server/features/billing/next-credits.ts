import type { Executor } from "../../db/transaction.ts";
import type { SubscriptionRow } from "../../db/types-billing.ts";
import * as queries from "./queries.ts";

/** An annual plan's credits come month by month. After its last month, and for monthly plans, they come with the renewal. */
export async function nextCreditsAt(executor: Executor, row: SubscriptionRow): Promise<Date | null> {
  const scheduled = row.billing_interval === "year" ? await queries.selectNextScheduledGrant(executor, row.user_id) : undefined;
  if (scheduled) return scheduled.due_at;
  return row.status === "active" && !row.cancel_at_period_end ? row.current_period_end : null;
}
