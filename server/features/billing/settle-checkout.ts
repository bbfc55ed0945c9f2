import type Stripe from "stripe";
import { packOf } from "#domain/plans.ts";
import { findPayer } from "../../db/payer.ts";
import type { Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { fromUnix, idOf, orMissing } from "../../providers/stripe.ts";
import { noteCompleted } from "./orders.ts";
import { grantPack } from "./packs.ts";
import * as queries from "./queries.ts";
import { writeReading } from "./readings.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log">;

/** Closes the person's other checkouts, so that they can't be paid as well. */
async function expireOtherCheckouts(deps: BillingDeps, userId: string, sessionId: string): Promise<void> {
  for (const other of await queries.selectOtherOpenCheckouts(deps.db, userId, sessionId)) {
    try {
      if (other.stripe_session_id) await deps.payments.checkout.sessions.expire(other.stripe_session_id);
    } catch (error) {
      // It was paid, has expired or no longer exists. Its own event says how it ended.
      deps.log.info({ err: error, checkout: other.id }, "a checkout could not be expired");
    }
    await queries.updateCheckout(deps.db, other.id, { status: "expired" });
  }
}

/**
 * What became of the session. A single payment by a slow method is still open after its checkout is complete; a subscription says itself
 * whether it is paid.
 */
function statusOf(session: Stripe.Checkout.Session): queries.CheckoutRow["status"] {
  if (session.status === "expired") return "expired";
  if (session.status !== "complete") return "open";
  if (session.mode === "subscription" || session.payment_status !== "unpaid") return "completed";
  const intent = typeof session.payment_intent === "object" ? session.payment_intent : null;
  return intent?.status === "processing" ? "open" : "expired";
}

async function writeCheckout(trx: Trx, session: Stripe.Checkout.Session) {
  const checkout = await queries.selectCheckoutOfSession(trx, session.id, session.metadata?.checkout_id);
  if (!checkout) return undefined;
  const status = statusOf(session);
  if (session.status === "complete") await noteCompleted(trx, checkout.id, { stripe_session_id: session.id });
  await queries.updateCheckout(trx, checkout.id, {
    status,
    stripe_session_id: session.id,
    expires_at: fromUnix(session.expires_at),
    ...(session.url ? { url: session.url } : {}),
  });
  return { userId: checkout.user_id, priceId: checkout.price_id, completed: status === "completed" };
}

/** Returns the account whose wallet the pack is in; null if the session sells nothing of ours, undefined if it is not paid. */
async function writePack(trx: Trx, session: Stripe.Checkout.Session, now: Date): Promise<string | null | undefined> {
  const checkout = await writeCheckout(trx, session);
  const pack = checkout && packOf(checkout.priceId);
  if (!pack) return null;
  if (!checkout.completed) return undefined;
  const payerId = await findPayer(trx, checkout.userId);
  if (payerId === undefined) throw new Error(`the buyer of ${session.id} has no billing account`);
  await grantPack(trx, payerId, pack, session, now);
  return payerId;
}

export interface SettledCheckout {
  /** The subscription that the checkout began, if it did. */
  subscriptionId: string | undefined;
  /** The account whose wallet has a pack from it. Null: it sold something that we don't know. */
  payerId: string | null | undefined;
}

/** Writes how a checkout ended, and posts a paid pack's credits. Undefined if Stripe lacks the session, or another process wrote it. */
export async function settleCheckout(deps: BillingDeps, sessionId: string): Promise<SettledCheckout | undefined> {
  const settled = await writeReading(
    deps,
    sessionId,
    () => orMissing(deps.payments.checkout.sessions.retrieve(sessionId, { expand: ["invoice", "payment_intent"] })),
    async (trx, session) =>
      session.mode === "subscription"
        ? { session, checkout: await writeCheckout(trx, session) }
        : { session, payerId: await writePack(trx, session, deps.clock.now()) },
  );
  if (!settled) return undefined;
  const { session, checkout, payerId } = settled;
  if (checkout?.completed) await expireOtherCheckouts(deps, checkout.userId, sessionId);
  return { subscriptionId: idOf(session.subscription), payerId };
}
