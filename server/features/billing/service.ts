import { DomainError } from "#domain/errors.ts";
import { checkReasons, tierDisplayName } from "#domain/subscription.ts";
import type { SubscriptionCheck } from "../../contract/billing.ts";
import type { Deps } from "../../deps.ts";
import { orUnavailable } from "../../providers/stripe.ts";
import { availableCredits } from "../credits/service.ts";
import { readEntitlement } from "./entitlement.ts";
import * as queries from "./queries.ts";

/** The person's subscription, read afresh (spec §7). */
export async function checkSubscription(deps: Pick<Deps, "db" | "clock">, userId: string): Promise<SubscriptionCheck> {
  const now = deps.clock.now();
  const entitlement = await readEntitlement(deps.db, userId, now);
  const row = await queries.selectSubscription(deps.db, userId);
  const end = row?.ended_at ?? row?.current_period_end;
  return {
    subscribed: entitlement.subscribed,
    subscription_tier: entitlement.tier,
    plan_name: tierDisplayName(entitlement.tier),
    credits: await availableCredits(deps.db, userId, entitlement.kinds(true), now),
    subscription_end: end?.toISOString() ?? null,
    reason: entitlement.subscribed ? null : checkReasons.none,
    status: row?.status ?? "none",
    billing_interval: row?.billing_interval ?? null,
    cancel_at_period_end: row?.cancel_at_period_end ?? false,
    server_time: now.toISOString(),
  };
}

/** A session of Stripe's portal. Throws `subscription_required` for people who never began a checkout. */
export async function openPortal(deps: Deps, userId: string): Promise<{ url: string }> {
  const buyer = await queries.selectBuyer(deps.db, userId);
  const customer = buyer?.stripe_customer_id;
  if (!customer) throw new DomainError("subscription_required", "There is nothing to manage yet: subscribe to a plan first");
  return orUnavailable(deps.log, async () => {
    const session = await deps.payments.billingPortal.sessions.create({
      customer,
      return_url: `${deps.config.publicUrl.origin}/profile`,
    });
    return { url: session.url };
  });
}
