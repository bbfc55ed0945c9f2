/**
 * Finds every hour what Stripe has and we don't: events that were never delivered, events that were received but never processed, paid
 * invoices without a grant, and periods that ended without an event. Repairs run the same code as events, so they are safe to repeat.
 */

import type Stripe from "stripe";
import { addMilliseconds, dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import type { Deps } from "../../deps.ts";
import { failureKind } from "../../failures.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { idOf } from "../../providers/stripe.ts";
import { Outages } from "../../queue/sweep-rows.ts";
import { recordStripeEvents, selectKnownEvents, selectNewestEventTime, selectWaitingEvents } from "./inbox.ts";
import { selectUnreadCustomers } from "./invoice-queries.ts";
import { mirrorEarlierInvoices } from "./mirror-invoice.ts";
import { processCheckout, processStripeEvent } from "./process-event.ts";
import * as queries from "./queries.ts";
import { syncSubscription } from "./sync-subscription.ts";

type BillingDeps = Pick<Deps, "db" | "pool" | "payments" | "clock" | "log" | "live" | "config">;

const overlapMs = 2 * hourMs;
const firstLookBackMs = 3 * dayMs;
/** An unpaid invoice can be paid until its days of grace are over. */
const invoiceLookBackMs = 10 * dayMs;
const waitingForMs = 10 * minuteMs;
const pageSize = 100;
const pageLimit = 100;
const batch = 200;

function unix(instant: Date): number {
  return Math.floor(instant.getTime() / 1000);
}

/** One run of the reconciliation. When `signal` is aborted it ends before the next repair or page. */
interface Run {
  deps: BillingDeps;
  signal: AbortSignal | undefined;
}

/**
 * Runs the repairs one by one. A failed one is logged and tried again in the next hour; a lasting outage ends the run. Returns how many
 * changed something.
 */
async function repairEach({ deps, signal }: Run, ids: Iterable<string>, repair: (id: string) => Promise<boolean>): Promise<number> {
  const outages = new Outages();
  let repaired = 0;
  for (const id of ids) {
    signal?.throwIfAborted();
    try {
      repaired += (await repair(id)) ? 1 : 0;
      outages.succeeded();
    } catch (error) {
      deps.log.error({ err: error, subject: id }, "reconciliation could not repair this");
      if (failureKind(error) === "outage") outages.add(error);
      else outages.succeeded();
    }
  }
  return repaired;
}

async function repairSubscription(deps: BillingDeps, subscriptionId: string): Promise<boolean> {
  const result = await syncSubscription(deps, subscriptionId);
  if (!result || !(result.subscriptionChanged || result.walletChanged)) return false;
  await announceToMembers(deps, result.payerId, "user_subscriptions", "wallets");
  return true;
}

async function takeEvent(deps: BillingDeps, event: Stripe.Event): Promise<boolean> {
  const { id: objectId } = event.data.object as { id?: unknown };
  const incoming = {
    id: event.id,
    type: event.type,
    livemode: event.livemode,
    objectId: typeof objectId === "string" ? objectId : null,
    created: event.created,
    payload: JSON.stringify(event),
  };
  const recorded = await recordStripeEvents(deps.pool, [incoming], deps.config.stripe.livemode);
  if (recorded.has(event.id)) await processStripeEvent(deps, event.id);
  return recorded.has(event.id);
}

/** Reads Stripe's events since the newest we know, or since the last complete run if that was earlier, plus two hours before that. */
async function takeMissedEvents(run: Run, now: Date, lastDoneAt: Date): Promise<number> {
  const { deps, signal } = run;
  const newest = await selectNewestEventTime(deps.db, now);
  const since = newest ? addMilliseconds(newest < lastDoneAt ? newest : lastDoneAt, -overlapMs) : addMilliseconds(now, -firstLookBackMs);
  // An event of the last minute may still be on its way.
  const missedBefore = unix(addMilliseconds(now, -minuteMs));
  let repaired = 0;
  let startingAfter: string | undefined;
  for (let page = 0; page < pageLimit; page += 1) {
    signal?.throwIfAborted();
    const events = await deps.payments.events.list({
      created: { gte: unix(since) },
      limit: pageSize,
      ...(startingAfter ? { starting_after: startingAfter } : {}),
    });
    const known = await selectKnownEvents(
      deps.db,
      events.data.map((event) => event.id),
    );
    const missed = new Map(events.data.filter((event) => !known.has(event.id)).map((event) => [event.id, event]));
    repaired += await repairEach(run, missed.keys(), async (id) => {
      const event = missed.get(id);
      return event !== undefined && (await takeEvent(deps, event)) && event.created < missedBefore;
    });
    startingAfter = events.data.at(-1)?.id;
    if (!events.has_more || startingAfter === undefined) break;
  }
  return repaired;
}

interface Ungranted {
  subscriptions: Set<string>;
  /** Sessions of checkouts that were paid once. */
  sessions: Set<string>;
}

/** Where paid invoices of the last days come from that we have not recorded. */
async function findUngranted({ deps, signal }: Run, now: Date): Promise<Ungranted> {
  const found: Ungranted = { subscriptions: new Set(), sessions: new Set() };
  let startingAfter: string | undefined;
  for (let page = 0; page < pageLimit; page += 1) {
    signal?.throwIfAborted();
    const invoices = await deps.payments.invoices.list({
      status: "paid",
      created: { gte: unix(addMilliseconds(now, -invoiceLookBackMs)) },
      limit: pageSize,
      ...(startingAfter ? { starting_after: startingAfter } : {}),
    });
    const recorded = await queries.selectRecordedInvoices(
      deps.db,
      invoices.data.map((invoice) => invoice.id),
    );
    for (const invoice of invoices.data) {
      if (recorded.has(invoice.id)) continue;
      const subscription = idOf(invoice.parent?.subscription_details?.subscription);
      const session = await queries.selectSessionOf(deps.db, invoice.metadata?.checkout_id ?? "");
      if (subscription !== undefined) found.subscriptions.add(subscription);
      else if (session !== undefined) found.sessions.add(session);
    }
    startingAfter = invoices.data.at(-1)?.id;
    if (!invoices.has_more || startingAfter === undefined) break;
  }
  return found;
}

/** Reads the invoices of customers whose list we have never read. One that fails is tried again in the next hour. */
async function readEarlierInvoices(run: Run): Promise<void> {
  let after: string | undefined;
  for (;;) {
    const customers = new Map(
      (await selectUnreadCustomers(run.deps.db, after, batch)).map((customer) => [customer.payerId, customer] as const),
    );
    await repairEach(run, customers.keys(), async (payerId) => {
      const customer = customers.get(payerId);
      if (customer) await mirrorEarlierInvoices(run.deps, customer);
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
  const run = { deps, signal };
  const now = deps.clock.now();
  const missed = await takeMissedEvents(run, now, lastDoneAt);
  const waiting = await selectWaitingEvents(deps.db, addMilliseconds(new Date(), -waitingForMs), batch);
  const done = await repairEach(run, waiting, async (eventId) => {
    await processStripeEvent(deps, eventId);
    return true;
  });
  const ungranted = await findUngranted(run, now);
  const settled = await repairEach(run, ungranted.sessions, async (sessionId) => {
    await processCheckout(deps, sessionId);
    return true;
  });
  const subscriptions = new Set([...ungranted.subscriptions, ...(await queries.selectOverduePeriods(deps.db, now, batch))]);
  const synced = await repairEach(run, subscriptions, (id) => repairSubscription(deps, id));
  await readEarlierInvoices(run);
  return { repaired: missed + done + settled + synced };
}
