import { fromStripeStatus } from "#domain/subscription.ts";
import type { Consent } from "../../contract/billing/orders.ts";
import type { Deps } from "../../deps.ts";
import { orUnavailable } from "../../providers/stripe.ts";
import { withCustomer } from "./customers.ts";
import { openSession } from "./open-session.ts";
import { agree, offerTo } from "./orders.ts";
import { ensureCoupon, stripePriceOf } from "./stripe-catalogue.ts";
import { checkoutTax } from "./stripe-tax.ts";
import { refuseRunningPlan } from "./trials.ts";

/**
 * Throws `already_subscribed` or `plan_suspended`. Asks Stripe, because our rows may not have the subscription yet. `exceptOrder`: the
 * order whose own subscription does not count.
 */
export async function refuseSubscribed(deps: Deps, customerId: string, exceptOrder: string | null = null): Promise<void> {
  const known = await deps.payments.subscriptions.list({ customer: customerId, limit: 20 });
  const others = known.data.filter(({ metadata }) => exceptOrder === null || metadata.checkout_id !== exceptOrder);
  for (const { status } of others) refuseRunningPlan({ status: fromStripeStatus(status) });
}

/**
 * Creates a checkout for a plan's price. Throws `unknown_price`, `already_subscribed`, `plan_suspended`, `consent_required`,
 * `preview_outdated`, `payment_provider_unavailable`. After a failure the next call continues with the open checkout or makes a new one.
 */
export async function createCheckout(
  deps: Deps,
  userId: string,
  { priceId, consent }: { priceId: string; consent?: Consent },
): Promise<{ url: string }> {
  const offer = await offerTo(deps, userId, priceId, "plan");
  const agreement = agree(offer, consent);
  return orUnavailable(deps.log, async () => {
    const line = { price: await stripePriceOf(deps, offer.sold.id), quantity: 1 };
    return withCustomer(deps, userId, async (buyer) => {
      await refuseSubscribed(deps, buyer.customerId);
      const { percent } = offer;
      const tax = checkoutTax(deps.config.stripe);
      const discounts = percent > 0 ? { discounts: [{ coupon: await ensureCoupon(deps, percent) }] } : {};
      return openSession(deps, buyer, {
        agreement,
        parameters: (metadata) => ({
          mode: "subscription",
          line_items: [line],
          metadata,
          subscription_data: { metadata },
          ...discounts,
          ...tax,
        }),
      });
    });
  });
}
