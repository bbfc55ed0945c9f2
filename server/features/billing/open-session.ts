/** Opens a session of Stripe's Checkout, one for each thing a person buys: a double click and a second tab share it. */
import type Stripe from "stripe";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { fromUnix, isMissing, isOtherContent, isUncertain, orMissing } from "../../providers/stripe.ts";
import { enqueue } from "../../queue/outbox.ts";
import type { Buyer } from "./customers.ts";
import type { Agreement } from "./orders.ts";
import { insertOrder, isAgreed } from "./orders.ts";
import type { CheckoutRow } from "./queries.ts";
import * as queries from "./queries.ts";
import { forgetCatalogue } from "./stripe-catalogue.ts";

/** Stripe ends a session after a day by itself. */
const sessionLifetimeMs = dayMs;
const attempts = 3;

/** What the person agreed to buy, and what a session for it says besides the buyer. */
export interface Order {
  agreement: Agreement;
  /** `metadata` names the checkout, so that whatever Stripe makes of the session leads back to it. */
  parameters: (metadata: Record<string, string>) => Stripe.Checkout.SessionCreateParams;
}

interface OpenCheckout {
  checkout: CheckoutRow;
  /** False: it was opened for another sum, or with other texts, than the person agrees to now. */
  agreed: boolean;
}

/**
 * Returns the person's open checkout for the price, or a new one with what they agreed to.
 */
async function openCheckout(deps: Deps, userId: string, { agreement }: Order): Promise<OpenCheckout> {
  const now = deps.clock.now();
  const { price_id: priceId } = agreement;
  return inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `checkout:${userId}`);
    const open = await queries.selectOpenCheckout(trx, { userId, priceId, now });
    if (open) return { checkout: open, agreed: await isAgreed(trx, open.id, agreement) };
    const checkout = await queries.insertCheckout(trx, { userId, priceId, now, expiresAt: addMilliseconds(now, sessionLifetimeMs) });
    await insertOrder(trx, checkout.id, userId, agreement, now);
    return { checkout, agreed: true };
  });
}

/**
 * Returns the session if it can still be paid. Otherwise its checkout is closed, and the next call opens another one; one that was paid is
 * written by its event or by the job.
 */
async function readOpenSession(deps: Deps, checkoutId: string, sessionId: string): Promise<Stripe.Checkout.Session | undefined> {
  const session = await orMissing(deps.payments.checkout.sessions.retrieve(sessionId, { expand: ["customer"] }));
  if (session?.status === "open" && session.url) return session;
  const isPaid = session?.status === "complete";
  await inTransaction(deps.db, async (trx) => {
    await queries.updateCheckout(trx, checkoutId, isPaid ? { expires_at: deps.clock.now() } : { status: "expired" });
    if (isPaid) await enqueue(trx, "settle-checkout", { sessionId }, sessionId);
  });
  return undefined;
}

/** Ends a checkout that says something else than what the person agrees to now, so that it can't be paid any more. */
async function retire(deps: Deps, { id, stripe_session_id: sessionId }: CheckoutRow): Promise<void> {
  if (sessionId === null) return queries.updateCheckout(deps.db, id, { status: "expired" });
  try {
    await deps.payments.checkout.sessions.expire(sessionId);
  } catch (error) {
    // It was paid or had expired; otherwise it can still be paid, and the person has to try again.
    if ((await readOpenSession(deps, id, sessionId)) !== undefined) throw error;
    return;
  }
  await queries.updateCheckout(deps.db, id, { status: "expired" });
}

/** Returns the address of the session if the buyer can still pay it. Closes a session whose customer was deleted at Stripe. */
async function resumeSession(deps: Deps, buyer: Buyer, checkout: CheckoutRow, sessionId: string): Promise<string | undefined> {
  const session = await readOpenSession(deps, checkout.id, sessionId);
  const customer = typeof session?.customer === "object" ? session.customer : null;
  if (customer?.id === buyer.customerId && !customer.deleted) return session?.url ?? undefined;
  if (session) await retire(deps, checkout);
  return undefined;
}

/** True for the error with which Stripe refuses a customer that was deleted. */
function lacksCustomer(error: unknown): boolean {
  return isMissing(error) && (error as Stripe.errors.StripeError).param === "customer";
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
    if (isMissing(error) && !lacksCustomer(error)) forgetCatalogue(deps);
    throw error;
  }
}

/** The address of the session. Throws `payment_provider_unavailable` and Stripe's errors; the next call goes on with what is there. */
export async function openSession(deps: Deps, buyer: Buyer, order: Order): Promise<{ url: string }> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const { checkout, agreed } = await openCheckout(deps, buyer.userId, order);
    if (!agreed) {
      await retire(deps, checkout);
      continue;
    }
    const url = checkout.stripe_session_id
      ? await resumeSession(deps, buyer, checkout, checkout.stripe_session_id)
      : await createSession(deps, buyer, checkout, order);
    if (url !== undefined) return { url };
  }
  throw new DomainError("payment_provider_unavailable", "The checkout could not be opened. Nothing was charged; try again in a moment");
}
