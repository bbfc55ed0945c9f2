import { DomainError } from "#domain/errors.ts";
import { planKeys } from "#domain/plans.ts";
import { checkReasons, tierDisplayName, trialName } from "#domain/subscription.ts";
import type { SubscriptionCheck } from "../../contract/billing/subscription.ts";
import type { SubscriptionRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { isMissing, orUnavailable } from "../../providers/stripe.ts";
import { readAlert } from "../credits/alerts.ts";
import { availableCredits, hasSpent } from "../credits/service.ts";
import { readEntitlement } from "./entitlement.ts";
import { retireDeleted } from "./former-customers.ts";
import { readUnpaid } from "./invoices.ts";
import { nextCreditsAt } from "./next-credits.ts";
import * as queries from "./queries.ts";
import { portalConfiguration } from "./stripe-portal.ts";
import { readTrial } from "./trials.ts";

function planToCome({ pending_plan_key, pending_interval, pending_from }: SubscriptionRow): SubscriptionCheck["plan_to_come"] {
  const plan = planKeys.find((key) => key === pending_plan_key);
  return plan && pending_interval && pending_from ? { plan, interval: pending_interval, from: pending_from.toISOString() } : null;
}

/** Reads the person's subscription; the result is never cached (spec §7). On the trial it describes the trial. */
export async function checkSubscription(deps: Pick<Deps, "db" | "clock" | "config">, userId: string): Promise<SubscriptionCheck> {
  const now = deps.clock.now();
  const entitlement = await readEntitlement(deps.db, userId, now);
  const row = await queries.selectSubscription(deps.db, userId);
  const trial = await readTrial(deps.db, deps, userId, row);
  const onTrial = entitlement.subscribed && entitlement.tier === "none";
  // During a trial the row is about an earlier plan.
  const shown = onTrial ? undefined : row;
  const alert = await readAlert(deps.db, userId, now);
  const end = onTrial ? trial.endsAt : (row?.ended_at ?? row?.current_period_end);
  return {
    subscribed: entitlement.subscribed,
    subscription_tier: entitlement.tier,
    plan_name: onTrial ? trialName : tierDisplayName(entitlement.tier),
    credits: await availableCredits(deps.db, userId, entitlement.kinds(true), now),
    subscription_end: end?.toISOString() ?? null,
    next_credits_at: entitlement.subscribed && shown ? ((await nextCreditsAt(deps.db, shown, now))?.toISOString() ?? null) : null,
    reason: entitlement.subscribed ? null : checkReasons.none,
    status: row?.status ?? "none",
    billing_interval: shown?.billing_interval ?? null,
    ...(typeof shown?.price_cents === "number" ? { price_cents: shown.price_cents } : {}),
    cancel_at_period_end: shown?.cancel_at_period_end ?? false,
    plan_to_come: shown ? planToCome(shown) : null,
    can_start_trial: trial.canStart,
    trial_end: trial.endsAt?.toISOString() ?? null,
    answered: await hasSpent(deps.db, userId),
    ...(await readUnpaid(deps.db, row)),
    ...(alert === null || entitlement.tier === "none" ? {} : { spent_percent: alert }),
    server_time: now.toISOString(),
  };
}

function nothingToManage(): DomainError {
  return new DomainError("subscription_required", "There is nothing to manage yet: subscribe to a plan first");
}

/** Opens a session of Stripe's portal. Throws `subscription_required` if the person has no customer at Stripe, or it was deleted there. */
export async function openPortal(deps: Deps, userId: string): Promise<{ url: string }> {
  const account = await queries.selectAccountOf(deps.db, userId);
  const customer = account?.stripe_customer_id;
  if (!customer) throw nothingToManage();
  return orUnavailable(deps.log, async () => {
    const configuration = await portalConfiguration(deps);
    try {
      const session = await deps.payments.billingPortal.sessions.create({
        customer,
        ...(configuration ? { configuration } : {}),
        return_url: `${deps.config.publicUrl.origin}/profile`,
      });
      return { url: session.url };
    } catch (error) {
      if (isMissing(error) && (await retireDeleted(deps, account.payer_id, customer))) throw nothingToManage();
      throw error;
    }
  });
}
