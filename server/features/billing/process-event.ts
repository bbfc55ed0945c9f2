import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import type { EventOutcome, Handled } from "./event-handlers.ts";
import { onCheckout, ruleOf } from "./event-handlers.ts";
import { selectEvent, settleEvents, takeWaitingEvents } from "./inbox.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log" | "live" | "config">;

/** Notifies open pages, even if nothing changed: an earlier try may have crashed after its commit and before this. */
async function tell(deps: BillingDeps, { payerId }: Handled): Promise<void> {
  if (payerId !== undefined) await announceToMembers(deps, payerId, "user_subscriptions", "wallets");
}

/** Writes the outcome of a checkout, as its event does. Throws if it should be tried again. */
export async function processCheckout(deps: BillingDeps, sessionId: string): Promise<void> {
  await tell(deps, await onCheckout(deps, sessionId));
}

/**
 * Acts on a recorded event and on the waiting events about the same object: reads the object again from Stripe and writes our state from
 * that, never from the payload. It may run any number of times and in any order. Throws if it should be tried again.
 */
export async function processStripeEvent(deps: BillingDeps, eventId: string): Promise<void> {
  const event = await selectEvent(deps.db, eventId);
  if (event?.status !== "received") return;
  const settle = (ids: readonly string[], outcome: EventOutcome) => settleEvents(deps.db, ids, outcome, deps.clock.now());
  const rule = event.livemode === deps.config.stripe.livemode ? ruleOf(event.type) : undefined;
  if (!rule) return settle([eventId], "set_aside");
  if (event.object_id === null) return settle([eventId], "ignored");
  const taken = await takeWaitingEvents(deps.db, eventId, event.object_id, rule.types);
  if (taken.length === 0) return;
  const handled = await rule.handle(deps, event.object_id);
  await tell(deps, handled);
  await settle(taken, handled.outcome);
}
