/** Stripe's events: each must have reached us and been processed. */
import type Stripe from "stripe";
import { addMilliseconds, minuteMs } from "#domain/clock.ts";
import type { Finding } from "#domain/findings.ts";
import { idOf } from "../../providers/stripe.ts";
import type { BillingDeps, Check } from "./checks.ts";
import { repairEach, report } from "./checks.ts";
import { ruleOf } from "./event-handlers.ts";
import { recordStripeEvents, selectKnownEvents, selectWaitingEvents } from "./inbox.ts";
import { processStripeEvent } from "./process-event.ts";
import { selectPayerOfCustomer } from "./queries.ts";

const waitingForMs = 10 * minuteMs;
const batch = 200;
const pageSize = 100;
/** A hundred thousand events. A run that meets more says so, because what it leaves out is not found by the next one either. */
const pageLimit = 1_000;

function unix(instant: Date): number {
  return Math.floor(instant.getTime() / 1000);
}

/** The events that Stripe has made since `since`, newest first, a page at a time. */
async function* eventsSince({ deps, signal }: Check, since: Date): AsyncGenerator<Stripe.Event[], void> {
  const created = { gte: unix(since) };
  let last: string | undefined;
  for (let page = 0; page < pageLimit; page += 1) {
    signal?.throwIfAborted();
    const after = last === undefined ? {} : { starting_after: last };
    const { data, has_more: more } = await deps.payments.events.list({ created, limit: pageSize, ...after });
    yield data;
    last = data.at(-1)?.id;
    if (!more || last === undefined) return;
  }
  deps.log.error({ read: pageLimit * pageSize }, "Stripe has more events than one run reads; npm run reconcile -- --full reads the rest");
}

/** Writes the event as the webhook does, and processes it. False if it has arrived meanwhile. */
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

async function findingOf(deps: BillingDeps, event: Stripe.Event, isRepaired: boolean): Promise<Finding> {
  const { customer } = event.data.object as { customer?: string | { id: string } | null };
  const payerId = (await selectPayerOfCustomer(deps.db, idOf(customer) ?? "")) ?? null;
  const details = { type: event.type, createdAt: new Date(event.created * 1000).toISOString() };
  return { kind: "lost_event", subject: event.id, payerId, details, isRepaired };
}

/** Takes a missed event. One that no code acts on is recorded like any other, and is no finding. */
async function takeMissed(check: Check, event: Stripe.Event, isLost: boolean): Promise<boolean> {
  const { deps } = check;
  const tell = async (isRepaired: boolean) => {
    if (isLost && ruleOf(event.type)) await report(check, await findingOf(deps, event, isRepaired));
  };
  try {
    if (!(await takeEvent(deps, event))) return false;
  } catch (error) {
    await tell(false);
    throw error;
  }
  await tell(true);
  return isLost;
}

export interface TakenEvents {
  repaired: number;
  /** The invoices that were paid, according to all of Stripe's events since then and not only the missed ones. */
  paidInvoiceIds: ReadonlySet<string>;
}

/** Takes the events that Stripe has made since `since` and we don't have. */
export async function takeMissedEvents(check: Check, since: Date): Promise<TakenEvents> {
  const { deps } = check;
  // An event of the last minute may still be on its way.
  const lostBefore = unix(addMilliseconds(deps.clock.now(), -minuteMs));
  let repaired = 0;
  const paidInvoiceIds = new Set<string>();
  for await (const events of eventsSince(check, since)) {
    for (const event of events) if (event.type === "invoice.paid" && event.data.object.id) paidInvoiceIds.add(event.data.object.id);
    const ids = events.map((event) => event.id);
    const known = await selectKnownEvents(deps.db, ids);
    const missed = new Map(events.filter((event) => !known.has(event.id)).map((event) => [event.id, event]));
    repaired += await repairEach(check, missed.keys(), async (id) => {
      const event = missed.get(id);
      return event !== undefined && takeMissed(check, event, event.created < lostBefore);
    });
  }
  return { repaired, paidInvoiceIds };
}

/** Processes the events that have waited for longer than their job should take. Returns how many. */
export async function processWaitingEvents(check: Check): Promise<number> {
  const { deps } = check;
  const waiting = await selectWaitingEvents(deps.db, addMilliseconds(new Date(), -waitingForMs), batch);
  return repairEach(check, waiting, async (eventId) => {
    const stuck = { kind: "stuck_event", subject: eventId, payerId: null, details: {} } as const;
    try {
      await processStripeEvent(deps, eventId);
    } catch (error) {
      await report(check, { ...stuck, isRepaired: false });
      throw error;
    }
    await report(check, { ...stuck, isRepaired: true });
    return true;
  });
}
