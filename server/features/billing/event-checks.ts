/** Stripe's events: each must have reached us and been processed. */
import type Stripe from "stripe";
import { addMilliseconds, minuteMs } from "#domain/clock.ts";
import type { Finding } from "#domain/findings.ts";
import { idOf } from "../../providers/stripe.ts";
import type { BillingDeps, Check } from "./checks.ts";
import { pagesOf, repairEach, report } from "./checks.ts";
import { ruleOf } from "./event-handlers.ts";
import { recordStripeEvents, selectKnownEvents, selectWaitingEvents } from "./inbox.ts";
import { processStripeEvent } from "./process-event.ts";
import { selectPayerOfCustomer } from "./queries.ts";

const waitingForMs = 10 * minuteMs;
const batch = 200;

export function unix(instant: Date): number {
  return Math.floor(instant.getTime() / 1000);
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

/** Takes the events that Stripe has made since `since` and we don't have. Returns how many. */
export async function takeMissedEvents(check: Check, since: Date): Promise<number> {
  const { deps } = check;
  // An event of the last minute may still be on its way.
  const lostBefore = unix(addMilliseconds(deps.clock.now(), -minuteMs));
  let repaired = 0;
  const listed = pagesOf(check, "events", (page) => deps.payments.events.list({ created: { gte: unix(since) }, ...page }));
  for await (const events of listed) {
    const ids = events.map((event) => event.id);
    const known = await selectKnownEvents(deps.db, ids);
    const missed = new Map(events.filter((event) => !known.has(event.id)).map((event) => [event.id, event]));
    repaired += await repairEach(check, missed.keys(), async (id) => {
      const event = missed.get(id);
      return event !== undefined && takeMissed(check, event, event.created < lostBefore);
    });
  }
  return repaired;
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
