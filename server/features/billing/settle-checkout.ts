import type Stripe from "stripe";
import type { Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { fromUnix, idOf, orMissing } from "../../providers/stripe.ts";
import * as queries from "./queries.ts";
import { writeReading } from "./readings.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "log">;

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

export interface SettledCheckout {
  mode: Stripe.Checkout.Session.Mode;
  /** The subscription that the checkout began, if it did. */
  subscriptionId: string | undefined;
}

/** Writes how a checkout ended. Returns undefined if Stripe has no session with this id, or if another process has just written it. */
export async function settleCheckout(deps: BillingDeps, sessionId: string): Promise<SettledCheckout | undefined> {
  const settled = await writeReading(
    deps,
    sessionId,
    () => orMissing(deps.payments.checkout.sessions.retrieve(sessionId)),
    async (trx, session) => ({ session, checkout: session.mode === "subscription" ? await writeCheckout(trx, session) : undefined }),
  );
  if (!settled) return undefined;
  const { session, checkout } = settled;
  if (checkout?.completed) await expireOtherCheckouts(deps, checkout.userId, sessionId);
  return { mode: session.mode, subscriptionId: idOf(session.subscription) };
}
