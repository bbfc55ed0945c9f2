/** The sweeps of billing, which worker/schedules.ts runs. Each may be repeated and may run late. */

import { addMilliseconds, hourMs } from "#domain/clock.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import { endAtStripe, lookForMoney } from "./end-at-stripe.ts";
import type { ScheduledGrant } from "./grant-invoice.ts";
import { postScheduledGrant, selectDueScheduledGrants } from "./grant-invoice.ts";
import * as queries from "./queries.ts";
import { syncSubscription } from "./sync-subscription.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log" | "live">;

/** How often we ask Stripe what became of a debit that is on its way, in case no event comes. */
const askBankAgainMs = 6 * hourMs;

async function postMonth(deps: Pick<Deps, "db" | "live" | "log">, scheduled: ScheduledGrant, now: Date): Promise<boolean> {
  const posted = await inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `billing:${scheduled.billing_account_id}`);
    return postScheduledGrant(trx, scheduled, now);
  });
  if (posted) await announceToMembers(deps, scheduled.billing_account_id, "wallets");
  return posted;
}

/** Posts the months of annual plans that are due by `now`, oldest first. Returns how many. */
export async function postDueScheduledGrants(deps: Pick<Deps, "db" | "live" | "log">, now: Date, signal?: AbortSignal): Promise<number> {
  return sweepRows(
    deps,
    "scheduled-grants",
    () => selectDueScheduledGrants(deps.db, now, sweepPage),
    ({ key }) => key,
    (scheduled) => postMonth(deps, scheduled, now),
    signal,
  );
}

async function endGrace(deps: BillingDeps, id: string, now: Date): Promise<boolean> {
  // It may have been paid a moment ago, so ask Stripe.
  await syncSubscription(deps, id);
  const payerId = await queries.selectPayerOfSubscription(deps.db, id);
  const current = payerId === undefined ? undefined : await queries.selectAccountSubscription(deps.db, payerId);
  // Only a plan that is unpaid has days of grace.
  const over = current?.stripe_subscription_id === id && current.grace_until !== null && current.grace_until <= now;
  if (over) {
    const money = await lookForMoney(deps, id, now);
    // The person has paid, and a bank may take four business days. Until then they keep the plan.
    if (money === "on its way") {
      await queries.extendGrace(deps.db, id, addMilliseconds(now, askBankAgainMs));
      return false;
    }
    if (money === "none") await endAtStripe(deps, id, "grace-over");
    await syncSubscription(deps, id);
  }
  if (payerId !== undefined) await announceToMembers(deps, payerId, "user_subscriptions", "wallets");
  return over;
}

/** Ends the subscriptions that are still unpaid and whose days of grace are over by `now`. Returns how many. */
export async function endGracePeriods(deps: BillingDeps, now: Date, signal?: AbortSignal): Promise<number> {
  return sweepRows(
    deps,
    "grace-periods",
    () => queries.selectEndedGrace(deps.db, now, sweepPage),
    (id) => id,
    (id) => endGrace(deps, id, now),
    signal,
  );
}
