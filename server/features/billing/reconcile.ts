/**
 * Finds every hour what Stripe has and we don't: events that were never delivered, events that were received but never processed, paid
 * invoices without a grant, and periods that ended without an event; and holds that nobody released. Repairs run the same code as events,
 * so they are safe to repeat. What was found is written down (features/findings/).
 */
import type Stripe from "stripe";
import { addMilliseconds, dayMs, hourMs } from "#domain/clock.ts";
import type { Finding } from "#domain/findings.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { releaseStaleHolds } from "../credits/service.ts";
import { resolveSettled, selectLacking, selectUnpaidReturns, selectUnrepairedPayments } from "./check-queries.ts";
import type { BillingDeps, Check } from "./checks.ts";
import { repairEach, report } from "./checks.ts";
import { processWaitingEvents, takeMissedEvents } from "./event-checks.ts";
import { selectNewestEventTime } from "./inbox.ts";
import { selectUnreadCustomers } from "./invoice-queries.ts";
import { mirrorEarlierInvoices } from "./mirror-invoice.ts";
import { checkPayments } from "./payment-checks.ts";
import * as queries from "./queries.ts";
import { syncSubscription } from "./sync-subscription.ts";
import { selectOverdueReturns } from "./transfer-returns.ts";

const overlapMs = 2 * hourMs;
const firstLookBackMs = 3 * dayMs;
const batch = 200;
const customersAnHour = 1_000;

/** Since the newest event we know, or since the last complete run if that was earlier, and two hours before that. */
async function lookBackTo(deps: BillingDeps, now: Date, lastDoneAt: Date): Promise<Date> {
  const newest = await selectNewestEventTime(deps.db, now);
  return newest ? addMilliseconds(newest < lastDoneAt ? newest : lastDoneAt, -overlapMs) : addMilliseconds(now, -firstLookBackMs);
}

/**
 * Checks the invoices that were paid since the last run, and those that an earlier run could not repair. Stripe is asked only for those that
 * our books lack, so a run does not become longer with the number of invoices that are in order. An invoice that can't be read is read again by
 * the next two runs, which look as far back.
 */
async function checkNewPayments(check: Check, paidInvoiceIds: ReadonlySet<string>): Promise<number> {
  const { deps } = check;
  const ids = [...new Set([...paidInvoiceIds, ...(await selectUnrepairedPayments(deps.db, batch))])];
  let repaired = 0;
  for (let start = 0; start < ids.length; start += batch) {
    const invoices: Stripe.Invoice[] = [];
    await repairEach(check, await selectLacking(deps.db, ids.slice(start, start + batch)), async (id) => {
      invoices.push(await deps.payments.invoices.retrieve(id));
      return false;
    });
    const found = await checkPayments(
      check,
      invoices.filter(({ status }) => status === "paid"),
    );
    repaired += found.filter(({ isRepaired }) => isRepaired).length;
  }
  return repaired;
}

/** Reads the subscription again. Returns the finding if our copy was not what Stripe has. */
export async function checkSubscriptionRow(check: Check, subscriptionId: string): Promise<Finding | undefined> {
  const { deps } = check;
  const result = await syncSubscription(deps, subscriptionId);
  if (!result || !(result.subscriptionChanged || result.walletChanged)) return undefined;
  await announceToMembers(deps, result.payerId, "user_subscriptions", "wallets");
  const subject = { kind: "wrong_subscription", subject: subscriptionId, payerId: result.payerId } as const;
  return report(check, { ...subject, details: {}, isRepaired: true });
}

/** Releases the holds that the sweep has left, because it failed at them. */
async function releaseStale(check: Check): Promise<number> {
  const released = await releaseStaleHolds(check.deps);
  for (const { payerId, holdId, credits, isReleased } of released)
    await report(check, { kind: "stale_hold", subject: holdId, payerId, details: { credits }, isRepaired: isReleased });
  return released.filter(({ isReleased }) => isReleased).length;
}

/** The job that pays back tries for days. If the plan has ended and the money has not come, somebody should look at it long before. */
async function reportUnpaidReturns(check: Check): Promise<void> {
  const { deps } = check;
  for (const { id, payerId, amountCents } of await selectUnpaidReturns(deps.db, addMilliseconds(deps.clock.now(), -hourMs), batch))
    await report(check, { kind: "unpaid_return", subject: id, payerId, details: { amountCents }, isRepaired: false });
  for (const { id, billing_account_id: payerId, amount_cents: amountCents } of await selectOverdueReturns(deps.db, deps.clock.now(), batch))
    await report(check, { kind: "unreturned_transfer", subject: id, payerId, details: { amountCents }, isRepaired: false });
}

/** Reads the invoices of customers whose list we have never read, of a few customers each hour. If one fails, the next hour tries again. */
async function readEarlierInvoices(check: Check): Promise<void> {
  const { deps } = check;
  let after: string | undefined;
  for (let read = 0; read < customersAnHour; read += batch) {
    const customers = new Map(
      (await selectUnreadCustomers(deps.db, after, batch)).map((customer) => [customer.payerId, customer] as const),
    );
    await repairEach(check, customers.keys(), async (payerId) => {
      const customer = customers.get(payerId);
      if (customer) await mirrorEarlierInvoices(deps, customer);
      return true;
    });
    after = [...customers.keys()].at(-1);
    if (customers.size < batch) return;
  }
}

/**
 * Returns how many repairs changed something. Throws only if Stripe or PostgreSQL can't be reached at all. `lastDoneAt` is when the last
 * complete run began: while no worker runs, webhooks still arrive, so a lost event may be older than the newest one we know.
 */
export async function reconcileBilling(
  deps: BillingDeps,
  lastDoneAt: Date = deps.clock.now(),
  signal?: AbortSignal,
): Promise<{ repaired: number }> {
  const now = deps.clock.now();
  return reconcileSince({ deps, by: "hourly", signal }, await lookBackTo(deps, now, lastDoneAt));
}

/** The same with events since `since`. Stripe lists those of the last 30 days. */
export async function reconcileSince(check: Check, since: Date): Promise<{ repaired: number }> {
  const { deps } = check;
  // First what needs no Stripe, so that it is done while Stripe can't be reached.
  const released = await releaseStale(check);
  await reportUnpaidReturns(check);
  try {
    const { repaired: missed, paidInvoiceIds } = await takeMissedEvents(check, since);
    const waiting = await processWaitingEvents(check);
    const booked = await checkNewPayments(check, paidInvoiceIds);
    const overdue = await queries.selectOverduePeriods(deps.db, deps.clock.now(), batch);
    const synced = await repairEach(check, overdue, async (id) => (await checkSubscriptionRow(check, id)) !== undefined);
    await readEarlierInvoices(check);
    return { repaired: released + missed + waiting + booked + synced };
  } finally {
    await resolveSettled(deps.db, deps.clock.now());
  }
}
