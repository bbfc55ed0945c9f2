import type Stripe from "stripe";
import type { Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announce } from "../../http/live-events.ts";
import { fromUnix, idOf, orMissing } from "../../providers/stripe.ts";
import { selectEvent, settleEvent } from "./inbox.ts";
import * as queries from "./queries.ts";
import { writeReading } from "./readings.ts";
import { syncSubscription } from "./sync-subscription.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log" | "live">;

/** Once one checkout is done, the person's others must not be paid as well. */
async function expireOtherCheckouts(deps: BillingDeps, userId: string, sessionId: string): Promise<void> {
  for (const other of await queries.selectOtherOpenCheckouts(deps.db, userId, sessionId)) {
    try {
      if (other.stripe_session_id) await deps.payments.checkout.sessions.expire(other.stripe_session_id);
    } catch (error) {
      // Paid, expired or gone already: its own event tells how it ended.
      deps.log.info({ err: error, checkout: other.id }, "a checkout could not be expired");
    }
    await queries.updateCheckout(deps.db, other.id, { status: "expired" });
  }
}

async function writeCheckout(trx: Trx, session: Stripe.Checkout.Session) {
  const checkout = await queries.selectCheckoutOfSession(trx, session.id, session.metadata?.checkout_id);
  if (!checkout) return undefined;
  const status = session.status === "complete" ? "completed" : session.status === "expired" ? "expired" : "open";
  await queries.updateCheckout(trx, checkout.id, {
    status,
    stripe_session_id: session.id,
    expires_at: fromUnix(session.expires_at),
    ...(session.url ? { url: session.url } : {}),
  });
  return { userId: checkout.user_id, completed: status === "completed" };
}

/** Writes how a checkout ended. Returns the subscription it led to, if it did. */
async function settleCheckout(deps: BillingDeps, sessionId: string): Promise<string | undefined> {
  const settled = await writeReading(
    deps,
    sessionId,
    async () => {
      const session = await orMissing(deps.payments.checkout.sessions.retrieve(sessionId));
      return session?.mode === "subscription" ? session : undefined;
    },
    async (trx, session) => ({ checkout: await writeCheckout(trx, session), subscriptionId: idOf(session.subscription) }),
  );
  if (settled?.checkout?.completed) await expireOtherCheckouts(deps, settled.checkout.userId, sessionId);
  return settled?.subscriptionId;
}

async function subscriptionOfInvoice(deps: BillingDeps, invoiceId: string): Promise<string | undefined> {
  const invoice = await orMissing(deps.payments.invoices.retrieve(invoiceId));
  return idOf(invoice?.parent?.subscription_details?.subscription);
}

/** What happens to an invoice and moves money or access; drafts and notices change nothing of ours. */
const invoiceEvents: ReadonlySet<string> = new Set([
  "invoice.paid",
  "invoice.payment_succeeded",
  "invoice.payment_failed",
  "invoice.payment_action_required",
  "invoice.voided",
  "invoice.marked_uncollectible",
]);

/** Which subscription an event is about, asked of Stripe by the object's id. Undefined: none of ours. */
async function subjectOf(deps: BillingDeps, type: string, objectId: string | null): Promise<string | undefined> {
  if (objectId === null) return undefined;
  if (type.startsWith("customer.subscription.")) return objectId;
  if (type.startsWith("checkout.session.")) return settleCheckout(deps, objectId);
  if (invoiceEvents.has(type)) return subscriptionOfInvoice(deps, objectId);
  return undefined;
}

/** Writes what a checkout has led to, as its event does. Throws when it should be tried again. */
export async function processCheckout(deps: BillingDeps, sessionId: string): Promise<void> {
  const subscriptionId = await settleCheckout(deps, sessionId);
  const result = subscriptionId === undefined ? undefined : await syncSubscription(deps, subscriptionId);
  if (result) await announce(deps, result.userId, "user_subscriptions", "wallets");
}

/**
 * Acts on a recorded event: re-reads what it is about from Stripe and writes our state from that, never from the payload.
 * Any number of times, in any order, the end is the same. Throws when it should be tried again.
 */
export async function processStripeEvent(deps: BillingDeps, eventId: string): Promise<void> {
  const event = await selectEvent(deps.db, eventId);
  if (event?.status !== "received") return;
  const subscriptionId = await subjectOf(deps, event.type, event.object_id);
  const result = subscriptionId === undefined ? undefined : await syncSubscription(deps, subscriptionId);
  // Also where nothing changed: an earlier try may have died between its commit and this.
  if (result) await announce(deps, result.userId, "user_subscriptions", "wallets");
  const acted = result !== undefined || event.type.startsWith("checkout.session.");
  await settleEvent(deps.db, eventId, acted ? "processed" : "ignored", deps.clock.now());
}
