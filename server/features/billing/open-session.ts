/** Opens a session of Stripe's Checkout, one for each thing a person buys: a double click and a second tab share it. */
import type Stripe from "stripe";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { PackKey, PriceId } from "#domain/plans.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { fromUnix, isMissing, isOtherContent, isUncertain, orMissing } from "../../providers/stripe.ts";
import { enqueue } from "../../queue/outbox.ts";
import type { Buyer } from "./customers.ts";
import type { CheckoutRow } from "./queries.ts";
import * as queries from "./queries.ts";
import { forgetCatalogue } from "./stripe-catalogue.ts";

/** Stripe ends a session after a day by itself. */
const sessionLifetimeMs = dayMs;
const attempts = 3;

/** What is bought, and what a session for it says besides the buyer. */
export interface Order {
  priceId: PriceId | PackKey;
  /** `metadata` names the checkout, so that whatever Stripe makes of the session leads back to it. */
  parameters: (metadata: Record<string, string>) => Stripe.Checkout.SessionCreateParams;
}

/** Returns the person's open checkout for the price, or a new one. So a double click and a second tab share one checkout. */
async function openCheckout(deps: Deps, userId: string, priceId: Order["priceId"]): Promise<CheckoutRow> {
  const now = deps.clock.now();
  return inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `checkout:${userId}`);
    const open = await queries.selectOpenCheckout(trx, { userId, priceId, now });
    return open ?? queries.insertCheckout(trx, { userId, priceId, now, expiresAt: addMilliseconds(now, sessionLifetimeMs) });
  });
}

/**
 * Returns the address of the session if it can still be paid. Otherwise the next call opens another checkout; one that was paid is written by
 * its event or by the job.
 */
async function resumeSession(deps: Deps, checkoutId: string, sessionId: string): Promise<string | undefined> {
  const session = await orMissing(deps.payments.checkout.sessions.retrieve(sessionId));
  if (session?.status === "open" && session.url) return session.url;
  const isPaid = session?.status === "complete";
  await inTransaction(deps.db, async (trx) => {
    await queries.updateCheckout(trx, checkoutId, isPaid ? { expires_at: deps.clock.now() } : { status: "expired" });
    if (isPaid) await enqueue(trx, "settle-checkout", { sessionId }, sessionId);
  });
  return undefined;
}

/**
 * Calls Stripe under an idempotency key of the checkout, so that two calls make one session. If Stripe refuses, the checkout is closed,
 * because Stripe would repeat the refusal under the same key. If Stripe does not answer, the checkout stays open for the next try.
 */
async function createSession(deps: Deps, buyer: Buyer, checkout: CheckoutRow, order: Order): Promise<string | undefined> {
  const { origin } = deps.config.publicUrl;
  try {
    const session = await deps.payments.checkout.sessions.create(
      {
        customer: buyer.customerId,
        client_reference_id: buyer.userId,
        success_url: `${origin}/profile?checkout=success&session_id={CHECKOUT_SESSION_ID}`,
        cancel_url: `${origin}/pricing?checkout=cancelled`,
        locale: buyer.language,
        ...order.parameters({ user_id: buyer.userId, checkout_id: checkout.id }),
      },
      { idempotencyKey: `checkout:${checkout.id}` },
    );
    if (!session.url) throw new Error(`checkout session ${session.id} has no address`);
    const expiresAt = fromUnix(session.expires_at);
    await queries.updateCheckout(deps.db, checkout.id, { stripe_session_id: session.id, url: session.url, expires_at: expiresAt });
    return session.url;
  } catch (error) {
    if (isUncertain(error)) throw error;
    await queries.updateCheckout(deps.db, checkout.id, { status: "expired" });
    if (isOtherContent(error)) return undefined;
    if (isMissing(error)) forgetCatalogue(deps);
    throw error;
  }
}

/** The address of the session. Throws `payment_provider_unavailable` and Stripe's errors; the next call goes on with what is there. */
export async function openSession(deps: Deps, buyer: Buyer, order: Order): Promise<{ url: string }> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const checkout = await openCheckout(deps, buyer.userId, order.priceId);
    const url = checkout.stripe_session_id
      ? await resumeSession(deps, checkout.id, checkout.stripe_session_id)
      : await createSession(deps, buyer, checkout, order);
    if (url !== undefined) return { url };
  }
  throw new DomainError("payment_provider_unavailable", "The checkout could not be opened. Nothing was charged; try again in a moment");
}
