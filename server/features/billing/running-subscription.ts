/** A person's running subscription as Stripe has it now, for the acts that change it. */
import Stripe from "stripe";
import { v7 as uuidv7 } from "uuid";
import { DomainError } from "#domain/errors.ts";
import type { BillingInterval, Plan } from "#domain/plans.ts";
import { fromStripeStatus } from "#domain/subscription.ts";
import type { SubscriptionCheck } from "../../contract/billing/subscription.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { fromUnix, orMissing, orUnavailable } from "../../providers/stripe.ts";
import { isDebited } from "./first-payment.ts";
import * as queries from "./queries.ts";
import type { PendingPlan } from "./read-pending-plan.ts";
import { readPendingPlan } from "./read-pending-plan.ts";
import { checkSubscription } from "./service.ts";
import { KnownPrices, planOfPrice } from "./stripe-catalogue.ts";
import { syncSubscription } from "./sync-subscription.ts";

export interface RunningSubscription {
  subscription: Stripe.Subscription;
  /** Its present price at Stripe, and the plan that is sold with it. */
  price: Stripe.Price;
  plan: Plan;
  interval: BillingInterval;
  periodEnd: Date;
  /** The schedule that manages it, if any. */
  schedule: Stripe.SubscriptionSchedule | undefined;
  pending: PendingPlan;
}

const noRunningPlan = () => new DomainError("no_running_plan", "There is no running plan that could be changed");

/** Throws `no_running_plan`, and `plan_unpaid` while the first payment has not been made. */
async function readRunning(deps: Deps, userId: string): Promise<RunningSubscription> {
  const row = await queries.selectSubscription(deps.db, userId);
  if (!row || row.status === "canceled") throw noRunningPlan();
  const expand = ["schedule", "discounts.source.coupon", "latest_invoice"];
  const subscription = await orMissing(deps.payments.subscriptions.retrieve(row.stripe_subscription_id, { expand }));
  const status = subscription && fromStripeStatus(subscription.status);
  const item = subscription?.items.data[0];
  const sold = item && planOfPrice(item.price);
  if (!item || !sold || status === "canceled") throw noRunningPlan();
  if (status === "incomplete" || isDebited(subscription))
    throw new DomainError("plan_unpaid", "The plan's first payment has not been made");
  const { schedule } = subscription;
  return {
    ...sold,
    subscription,
    price: item.price,
    periodEnd: fromUnix(item.current_period_end),
    schedule: typeof schedule === "object" && schedule?.status === "active" ? schedule : undefined,
    pending: await readPendingPlan(subscription, new KnownPrices(deps.payments, [item.price])),
  };
}

/** Whether the subscription ends instead of renewing. Stripe's portal sets the date, we set the flag. */
export function isEnding({ subscription, periodEnd }: Pick<RunningSubscription, "subscription" | "periodEnd">): boolean {
  const { cancel_at: cancelAt, cancel_at_period_end: atPeriodEnd } = subscription;
  return atPeriodEnd || (cancelAt !== null && fromUnix(cancelAt) <= periodEnd);
}

export async function withRunning<Result>(
  deps: Deps,
  userId: string,
  look: (running: RunningSubscription) => Promise<Result>,
): Promise<Result> {
  return orUnavailable(deps.log, async () => look(await readRunning(deps, userId)));
}

const attempts = 4;

/**
 * Brings the running subscription into a state at Stripe and then into our rows, and tells the person's open pages. `bring` gets it as Stripe
 * has it now and does only what is missing; so a second click, a second tab or a retry finds the work done. If Stripe refuses a step, somebody
 * else has changed the subscription since it was read: then it is read again. Throws what `bring` and `readRunning` throw,
 * `payment_provider_unavailable`, and `conflict` if Stripe refuses every time.
 */
export async function changeRunning(
  deps: Deps,
  userId: string,
  bring: (running: RunningSubscription) => Promise<void>,
): Promise<SubscriptionCheck> {
  await orUnavailable(deps.log, async () => {
    for (let attempt = 1; ; attempt += 1) {
      const running = await readRunning(deps, userId);
      try {
        await bring(running);
        await syncSubscription(deps, running.subscription.id);
        return;
      } catch (error) {
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
        if (attempt === attempts) {
          deps.log.warn({ err: { code: error.code, message: error.message } }, "Stripe refuses a change of a subscription");
          throw new DomainError("conflict", "The subscription was changed by somebody else at the same time. Look at it again");
        }
      }
    }
  });
  const account = await queries.selectAccountOf(deps.db, userId);
  if (account) await announceToMembers(deps, account.payer_id, "user_subscriptions");
  return checkSubscription(deps, userId);
}

/**
 * Every write says what state it wants and not what to add, so it may be repeated. A key of its own makes the retries of one call safe;
 * a key made from the content would let Stripe answer a change, its undoing and the same change again with the first answer.
 */
export function writeKey(): Stripe.RequestOptions {
  return { idempotencyKey: uuidv7() };
}
