/**
 * Changes of the plan, up and down, monthly and annual, always from the next billing period on. A change is a second phase of a schedule at
 * Stripe, so nothing is prorated, and nothing is charged before it takes effect. Until then it can be replaced or taken back.
 */
import type Stripe from "stripe";
import { addMonths } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { BillingInterval, Plan } from "#domain/plans.ts";
import { parsePriceId, planKeys, priceCents, priceIdOf } from "#domain/plans.ts";
import { fromStripeStatus } from "#domain/subscription.ts";
import type { PlanChangePreview } from "../../contract/billing/plan-change.ts";
import type { SubscriptionCheck } from "../../contract/billing/subscription.ts";
import type { Deps } from "../../deps.ts";
import { readWallet } from "../credits/service.ts";
import { billedCents, discountsAt } from "./billed-amount.ts";
import type { RunningSubscription } from "./running-subscription.ts";
import { changeRunning, isEnding, withRunning, writeKey } from "./running-subscription.ts";
import { stripePriceOf } from "./stripe-catalogue.ts";
import { taxShown } from "./stripe-tax.ts";
import { planSuspended } from "./trials.ts";

interface Target {
  plan: Plan;
  interval: BillingInterval;
}

function targetOf(priceId: string): Target {
  const target = parsePriceId(priceId);
  if (!target) throw new DomainError("unknown_price", "There is no such price");
  return target;
}

function refuseChange(running: RunningSubscription, target: Target): void {
  const { subscription, plan, interval } = running;
  if (fromStripeStatus(subscription.status) === "suspended") throw planSuspended();
  if (subscription.status === "past_due") throw new DomainError("plan_unpaid", "The plan can be changed once its open invoice is paid");
  if (isEnding(running)) throw new DomainError("plan_ending", "The plan ends with its period. Resume it first, then change it");
  if (plan.key === target.plan.key && interval === target.interval) throw new DomainError("same_plan", "This is the present plan");
}

function isPending({ pending }: RunningSubscription, { plan, interval }: Target): boolean {
  return pending.pending_plan_key === plan.key && pending.pending_interval === interval;
}

function replacedBy(running: RunningSubscription, target: Target): PlanChangePreview["replaces"] {
  const plan = planKeys.find((key) => key === running.pending.pending_plan_key);
  const interval = running.pending.pending_interval;
  return plan && interval && !isPending(running, target) ? { plan, interval } : null;
}

/** Throws `wallet_frozen` while a payment is disputed. */
async function planCreditsLeft(deps: Deps, userId: string): Promise<number> {
  const wallet = await readWallet(deps.db, userId, ["plan"], deps.clock.now());
  if (wallet.frozen) throw new DomainError("wallet_frozen", "The plan can't be changed while a payment is disputed");
  return wallet.grants.filter(({ kind }) => kind === "plan").reduce((sum, { remaining }) => sum + Math.max(0, remaining), 0);
}

async function previewOf(deps: Deps, userId: string, running: RunningSubscription, target: Target): Promise<PlanChangePreview> {
  refuseChange(running, target);
  const { subscription, periodEnd, plan, interval, price } = running;
  const cents = priceCents(target.plan, target.interval);
  const later = addMonths(periodEnd, target.interval === "year" ? 12 : 1);
  return {
    from: { plan: plan.key, interval, priceCents: price.unit_amount ?? priceCents(plan, interval), credits: plan.monthlyCredits },
    to: { plan: target.plan.key, interval: target.interval, priceCents: cents, credits: target.plan.monthlyCredits },
    dueNowCents: 0,
    effectiveAt: periodEnd.toISOString(),
    amountCents: billedCents(cents, subscription, periodEnd),
    laterCents: billedCents(cents, subscription, later),
    tax: subscription.automatic_tax.enabled ? await taxShown(deps.db, deps.config.stripe, userId) : null,
    planCreditsLeft: await planCreditsLeft(deps, userId),
    replaces: replacedBy(running, target),
  };
}

/**
 * Throws `unknown_price`, `no_running_plan`, `plan_unpaid`, `plan_ending`, `same_plan`, `wallet_frozen`, `payment_provider_unavailable`.
 */
export async function previewPlanChange(deps: Deps, userId: string, priceId: string): Promise<PlanChangePreview> {
  const target = targetOf(priceId);
  return withRunning(deps, userId, (running) => previewOf(deps, userId, running, target));
}

/** The schedule's phases: the present plan to the end of its period, then the other. Stripe takes away a discount that a phase does not name. */
async function phasesTo(
  deps: Deps,
  { subscription, price, periodEnd }: RunningSubscription,
  schedule: Stripe.SubscriptionSchedule,
  { plan, interval }: Target,
): Promise<Stripe.SubscriptionScheduleUpdateParams.Phase[]> {
  const start = schedule.current_phase?.start_date ?? subscription.items.data[0]?.current_period_start;
  // A subscription that began without Stripe Tax goes on without it: Stripe may not know where its customer lives.
  const tax = subscription.automatic_tax.enabled ? { automatic_tax: { enabled: true } } : {};
  const same = { proration_behavior: "none", ...tax } as const;
  // Otherwise Stripe may keep the billing cycle of the months, and the year would begin without an invoice.
  const anchor = price.recurring?.interval === interval ? {} : ({ billing_cycle_anchor: "phase_start" } as const);
  const reuse = (discounts: readonly (string | Stripe.Discount)[]) =>
    discounts.map((discount) => ({ discount: typeof discount === "string" ? discount : discount.id }));
  return [
    {
      ...same,
      items: [{ price: price.id, quantity: 1 }],
      ...(start === undefined ? {} : { start_date: start }),
      end_date: periodEnd.getTime() / 1000,
      discounts: reuse(subscription.discounts),
    },
    {
      ...same,
      ...anchor,
      items: [{ price: await stripePriceOf(deps, priceIdOf(plan.key, interval)), quantity: 1 }],
      duration: { interval, interval_count: 1 },
      discounts: reuse(discountsAt(subscription, periodEnd)),
    },
  ];
}

async function scheduleChange(deps: Deps, running: RunningSubscription, target: Target): Promise<void> {
  const { subscriptionSchedules: schedules } = deps.payments;
  // Stripe refuses a second schedule for a subscription, so of two clicks one makes it and the other reads again and finds it.
  const schedule = running.schedule ?? (await schedules.create({ from_subscription: running.subscription.id }, writeKey()));
  const phases = await phasesTo(deps, running, schedule, target);
  await schedules.update(schedule.id, { end_behavior: "release", proration_behavior: "none", phases }, writeKey());
}

/** What the person saw and confirmed. */
export interface ConfirmedChange {
  priceId: string;
  effectiveAt: string;
  amountCents: number;
}

/** Throws what `previewPlanChange` throws, and `preview_outdated` if the change would mean something else by now than what was confirmed. */
export async function changePlan(deps: Deps, userId: string, confirmed: ConfirmedChange): Promise<SubscriptionCheck> {
  const target = targetOf(confirmed.priceId);
  return changeRunning(deps, userId, async (running) => {
    const { effectiveAt, amountCents } = await previewOf(deps, userId, running, target);
    if (Date.parse(effectiveAt) !== Date.parse(confirmed.effectiveAt) || amountCents !== confirmed.amountCents)
      throw new DomainError("preview_outdated", "The change would mean something else by now. Look at it again before you confirm");
    if (!isPending(running, target)) await scheduleChange(deps, running, target);
  });
}

/** Throws `no_running_plan`, `plan_unpaid`, `payment_provider_unavailable`. Does nothing if no change is planned. */
export async function undoPlanChange(deps: Deps, userId: string): Promise<SubscriptionCheck> {
  return changeRunning(deps, userId, async ({ schedule, pending }) => {
    if (schedule && pending.pending_plan_key !== null) await deps.payments.subscriptionSchedules.release(schedule.id, {}, writeKey());
  });
}
