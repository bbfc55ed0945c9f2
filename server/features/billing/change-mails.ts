/** The mails about a planned change and a cancellation, wherever it was made: here, in Stripe's portal or by support. */
import type Stripe from "stripe";
import type { PlanKey } from "#domain/plans.ts";
import { planList, priceCents } from "#domain/plans.ts";
import type { Trx } from "../../db/transaction.ts";
import { queueMail } from "../notifications/service.ts";
import { billedCents } from "./billed-amount.ts";
import * as queries from "./queries.ts";

type Row = queries.AccountSubscription;

/** A state of a subscription, recorded as `changeId`, and the one before it. */
interface Change {
  changeId: string;
  before: Row;
  row: Row;
  /** As it was read, with its discounts. */
  subscription: Stripe.Subscription;
}

function planKeyOf(row: Row): PlanKey | undefined {
  return planList.find(({ key }) => key === row.plan_key)?.key;
}

function plansAnother(before: Row, row: Row): boolean {
  return before.pending_plan_key !== row.pending_plan_key || before.pending_interval !== row.pending_interval;
}

async function mailPlanned(trx: Trx, payerId: string, { changeId, row, subscription }: Change, now: Date): Promise<void> {
  const recipient = await queries.selectRecipient(trx, payerId);
  const [plan, to] = [planKeyOf(row), planList.find(({ key }) => key === row.pending_plan_key)];
  const { pending_interval: interval, pending_from: from } = row;
  if (!recipient || !plan || !to || !interval || !from) return;
  const mail = {
    key: `plan-change:${changeId}`,
    userId: recipient.user_id,
    recipient: recipient.email,
    template: "plan-change-planned",
    language: recipient.language,
    parameters: {
      plan,
      oldInterval: row.billing_interval,
      newPlan: to.key,
      interval,
      amountCents: billedCents(priceCents(to, interval), subscription, from),
      credits: to.monthlyCredits,
      renewsAt: from.toISOString(),
    },
  } as const;
  await queueMail(trx, mail, now);
}

async function mailCancelled(trx: Trx, payerId: string, { changeId, row }: Change, now: Date): Promise<void> {
  const recipient = await queries.selectRecipient(trx, payerId);
  const plan = planKeyOf(row);
  if (!recipient || !plan) return;
  const mail = {
    key: `plan-cancelled:${changeId}`,
    userId: recipient.user_id,
    recipient: recipient.email,
    template: "plan-cancelled",
    language: recipient.language,
    parameters: { plan, endsAt: row.current_period_end.toISOString() },
  } as const;
  await queueMail(trx, mail, now);
}

/** Sent once for each change of plan that is planned, and for each cancellation; not if either is taken back. */
export async function mailChange(trx: Trx, payerId: string, change: Change, now: Date): Promise<void> {
  const { before, row } = change;
  if (row.status === "canceled" || before.stripe_subscription_id !== row.stripe_subscription_id) return;
  if (row.pending_plan_key !== null && plansAnother(before, row)) await mailPlanned(trx, payerId, change, now);
  if (row.cancel_at_period_end && !before.cancel_at_period_end) await mailCancelled(trx, payerId, change, now);
}
