/** The mails about a planned change and a cancellation, wherever it was made: here, in Stripe's portal or by support. */
import type Stripe from "stripe";
import type { PlanKey } from "#domain/plans.ts";
import { planList, priceCents } from "#domain/plans.ts";
import type { Trx } from "../../db/transaction.ts";
import { billedCents } from "./billed-amount.ts";
import { mailPayer } from "./mails.ts";
import type { AccountSubscription as Row } from "./queries.ts";

/** A state of a subscription, recorded as `changeId`, and the one before it. */
interface Change {
  changeId: string;
  before: Row;
  row: Row;
  /** The subscription that we read, with its discounts. */
  subscription: Stripe.Subscription;
}

function planKeyOf(row: Row): PlanKey | undefined {
  return planList.find(({ key }) => key === row.plan_key)?.key;
}

function plansAnother(before: Row, row: Row): boolean {
  return before.pending_plan_key !== row.pending_plan_key || before.pending_interval !== row.pending_interval;
}

async function mailPlanned(trx: Trx, payerId: string, { changeId, row, subscription }: Change, now: Date): Promise<void> {
  const [plan, to] = [planKeyOf(row), planList.find(({ key }) => key === row.pending_plan_key)];
  const { pending_interval: interval, pending_from: from } = row;
  if (!plan || !to || !interval || !from) return;
  const parameters = {
    plan,
    oldInterval: row.billing_interval,
    newPlan: to.key,
    interval,
    amountCents: billedCents(priceCents(to, interval), subscription, from),
    credits: to.monthlyCredits,
    renewsAt: from.toISOString(),
  };
  await mailPayer(trx, payerId, { key: `plan-change:${changeId}`, template: "plan-change-planned", parameters }, now);
}

async function mailCancelled(trx: Trx, payerId: string, { changeId, row }: Change, now: Date): Promise<void> {
  const plan = planKeyOf(row);
  if (!plan) return;
  const parameters = { plan, endsAt: row.current_period_end.toISOString() };
  await mailPayer(trx, payerId, { key: `plan-cancelled:${changeId}`, template: "plan-cancelled", parameters }, now);
}

/** Sent once for each change of plan that is planned, and for each cancellation; not if either is taken back. */
export async function mailChange(trx: Trx, payerId: string, change: Change, now: Date): Promise<void> {
  const { before, row } = change;
  if (row.status === "canceled" || before.stripe_subscription_id !== row.stripe_subscription_id) return;
  if (row.pending_plan_key !== null && plansAnother(before, row)) await mailPlanned(trx, payerId, change, now);
  if (row.cancel_at_period_end && !before.cancel_at_period_end) await mailCancelled(trx, payerId, change, now);
}
