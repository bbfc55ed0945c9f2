/** Tells people of a yearly renewal ahead of it, as the law of several countries asks (decision 46). */
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { renewalNoticeDays } from "#domain/plans.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { orMissing } from "../../providers/stripe.ts";
import { notSetAside, sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import * as queries from "./queries.ts";
import { mailRenewalAhead } from "./renewal-mails.ts";

/** Yearly subscriptions that renew within the days of notice, and whose people were not told of this renewal yet. */
async function selectDue(executor: Executor, now: Date): Promise<string[]> {
  const rows = await executor
    .selectFrom("user_subscriptions")
    .select("stripe_subscription_id")
    .where("billing_interval", "=", "year")
    .where("status", "=", "active")
    .where("cancel_at_period_end", "=", false)
    .where("renewal_told_for", "is distinct from", sql<Date>`current_period_end`)
    .where("current_period_end", "<=", addMilliseconds(now, renewalNoticeDays * dayMs))
    .where(notSetAside("renewal-notices", sql`stripe_subscription_id`))
    .groupBy("stripe_subscription_id")
    .orderBy((e) => e.fn.min("current_period_end"))
    .limit(sweepPage)
    .execute();
  return rows.map((row) => row.stripe_subscription_id);
}

async function tell(deps: Pick<Deps, "db" | "payments">, subscriptionId: string, now: Date): Promise<boolean> {
  const payerId = await queries.selectPayerOfSubscription(deps.db, subscriptionId);
  if (payerId === undefined) return false;
  // Its discounts decide what will be charged. One that Stripe no longer has is ended by the hourly check.
  const subscription = await orMissing(deps.payments.subscriptions.retrieve(subscriptionId, { expand: ["discounts.source.coupon"] }));
  if (!subscription) return false;
  return inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `billing:${payerId}`);
    const row = await queries.selectAccountSubscription(trx, payerId);
    if (row?.stripe_subscription_id !== subscriptionId || row.status !== "active" || row.cancel_at_period_end) return false;
    await trx
      .updateTable("user_subscriptions")
      .set({ renewal_told_for: row.current_period_end })
      .where("stripe_subscription_id", "=", subscriptionId)
      .execute();
    // After an outage longer than the notice the plan has renewed, and there is a mail about that.
    if (row.current_period_end <= now) return false;
    await mailRenewalAhead(trx, payerId, { row, subscription }, now);
    return true;
  });
}

/** Mails what is due by `now`. Returns how many. */
export async function tellOfRenewals(deps: Pick<Deps, "db" | "log" | "payments">, now: Date, signal?: AbortSignal): Promise<number> {
  return sweepRows(
    deps,
    "renewal-notices",
    () => selectDue(deps.db, now),
    (id) => id,
    (id) => tell(deps, id, now),
    signal,
  );
}
