import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { PriceId } from "#domain/plans.ts";
import { parsePriceId, priceIdOf } from "#domain/plans.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { fromUnix, isMissing, isOtherContent, isUncertain, orMissing, orUnavailable } from "../../providers/stripe.ts";
import type { Buyer } from "./customers.ts";
import { ensureCustomer } from "./customers.ts";
import { discountPercent } from "./discount.ts";
import type { CheckoutRow } from "./queries.ts";
import * as queries from "./queries.ts";
import { ensureCatalogue, ensureCoupon, forgetCatalogue } from "./stripe-catalogue.ts";

/** Stripe ends a session after a day. */
const sessionLifetimeMs = dayMs;
const attempts = 3;

/** States in which a subscription exists. A checkout would make a second one. */
const subscribedStatuses: readonly string[] = ["active", "trialing", "past_due", "unpaid", "paused"];

function alreadySubscribed(): DomainError {
  return new DomainError("already_subscribed", "You already have a subscription. Change the plan from your profile", {
    changePlanAt: "/profile",
  });
}

async function refuseSubscribed(deps: Deps, customerId: string): Promise<void> {
  const known = await deps.payments.subscriptions.list({ customer: customerId, limit: 20 });
  if (known.data.some((subscription) => subscribedStatuses.includes(subscription.status))) throw alreadySubscribed();
}

/** Returns the person's open checkout for the price, or a new one. So a double click and a second tab share one checkout. */
async function openCheckout(deps: Deps, userId: string, priceId: PriceId): Promise<CheckoutRow> {
  const now = deps.clock.now();
  return inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `checkout:${userId}`);
    const open = await queries.selectOpenCheckout(trx, { userId, priceId, now });
    return open ?? queries.insertCheckout(trx, { userId, priceId, now, expiresAt: addMilliseconds(now, sessionLifetimeMs) });
  });
}

/** Returns the address of the session if it can still be paid, otherwise closes the checkout. */
async function resumeSession(deps: Deps, checkoutId: string, sessionId: string): Promise<string | undefined> {
  const session = await orMissing(deps.payments.checkout.sessions.retrieve(sessionId));
  if (session?.status === "open" && session.url) return session.url;
  await queries.updateCheckout(deps.db, checkoutId, { status: session?.status === "complete" ? "completed" : "expired" });
  return undefined;
}

/**
 * Calls Stripe under an idempotency key of the checkout, so that two calls make one session. If Stripe refuses, the checkout is closed,
 * because Stripe would repeat the refusal under the same key. If Stripe does not answer, the checkout stays open for the next try.
 */
async function createSession(deps: Deps, buyer: Buyer, checkout: CheckoutRow, stripePriceId: string): Promise<string | undefined> {
  const percent = await discountPercent(deps.db, deps.config, buyer.userId, deps.clock.now());
  const discounts = percent > 0 ? [{ coupon: await ensureCoupon(deps, percent) }] : undefined;
  const metadata = { user_id: buyer.userId, checkout_id: checkout.id };
  const { origin } = deps.config.publicUrl;
  try {
    const session = await deps.payments.checkout.sessions.create(
      {
        mode: "subscription",
        customer: buyer.customerId,
        client_reference_id: buyer.userId,
        line_items: [{ price: stripePriceId, quantity: 1 }],
        success_url: `${origin}/profile?checkout=success&session_id={CHECKOUT_SESSION_ID}`,
        cancel_url: `${origin}/pricing?checkout=cancelled`,
        locale: buyer.language,
        metadata,
        subscription_data: { metadata },
        ...(discounts ? { discounts } : {}),
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

/**
 * Creates a checkout for a plan's price. Throws `unknown_price`, `already_subscribed`, `payment_provider_unavailable`. After a failure the
 * next call continues with the open checkout or makes a new one.
 */
export async function createCheckout(deps: Deps, userId: string, priceId: string): Promise<{ url: string }> {
  const price = parsePriceId(priceId);
  if (!price) throw new DomainError("unknown_price", "There is no such price");
  const known = priceIdOf(price.plan.key, price.interval);
  const subscription = await queries.selectSubscription(deps.db, userId);
  if (subscription?.status === "active" || subscription?.status === "past_due") throw alreadySubscribed();
  return orUnavailable(deps.log, async () => {
    const stripePriceId = (await ensureCatalogue(deps)).get(known);
    if (stripePriceId === undefined) throw new DomainError("unknown_price", "There is no such price");
    const buyer = await ensureCustomer(deps, userId);
    await refuseSubscribed(deps, buyer.customerId);
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const checkout = await openCheckout(deps, userId, known);
      const url = checkout.stripe_session_id
        ? await resumeSession(deps, checkout.id, checkout.stripe_session_id)
        : await createSession(deps, buyer, checkout, stripePriceId);
      if (url !== undefined) return { url };
    }
    throw new DomainError("payment_provider_unavailable", "The checkout could not be opened. Nothing was charged; try again in a moment");
  });
}
