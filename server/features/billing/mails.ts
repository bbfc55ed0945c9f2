/** The mails of billing. Each is queued in the transaction of the event that it reports. */
import type { Pack } from "#domain/plans.ts";
import { planList, priceCents } from "#domain/plans.ts";
import type { Trx } from "../../db/transaction.ts";
import { queueMail } from "../notifications/service.ts";
import * as queries from "./queries.ts";

/** Sent once per subscription: it is paid, and has these credits. */
export async function mailStarted(trx: Trx, payerId: string, subscription: queries.AccountSubscription, now: Date): Promise<void> {
  const buyer = await queries.selectRecipient(trx, payerId);
  const plan = planList.find((candidate) => candidate.key === subscription.plan_key);
  if (!buyer || !plan) return;
  const mail = {
    key: `subscription-started:${subscription.stripe_subscription_id}`,
    userId: buyer.user_id,
    recipient: buyer.email,
    template: "subscription-started",
    language: buyer.language,
    parameters: {
      plan: plan.key,
      interval: subscription.billing_interval,
      priceCents: priceCents(plan, subscription.billing_interval),
      credits: plan.monthlyCredits,
      renewsAt: subscription.current_period_end.toISOString(),
    },
  } as const;
  await queueMail(trx, mail, now);
}

/** Sent once per pack: its credits, and until when they can be used. */
export async function mailPackBought(
  trx: Trx,
  payerId: string,
  bought: { sessionId: string; pack: Pack; amountCents: number; expiresAt: Date },
  now: Date,
): Promise<void> {
  const buyer = await queries.selectRecipient(trx, payerId);
  if (!buyer) return;
  const mail = {
    key: `pack-bought:${bought.sessionId}`,
    userId: buyer.user_id,
    recipient: buyer.email,
    template: "pack-bought",
    language: buyer.language,
    parameters: { credits: bought.pack.credits, amountCents: bought.amountCents, usableUntil: bought.expiresAt.toISOString() },
  } as const;
  await queueMail(trx, mail, now);
}

/** Sent once per unpaid period: what is unpaid, and how long access lasts. */
export async function mailPaymentFailed(
  trx: Trx,
  payerId: string,
  subscription: queries.AccountSubscription,
  amountCents: number,
  now: Date,
): Promise<void> {
  const buyer = await queries.selectRecipient(trx, payerId);
  const plan = planList.find((candidate) => candidate.key === subscription.plan_key);
  if (!buyer || !plan || !subscription.grace_until) return;
  const graceUntil = subscription.grace_until.toISOString();
  const mail = {
    key: `payment-failed:${subscription.stripe_subscription_id}:${graceUntil}`,
    userId: buyer.user_id,
    recipient: buyer.email,
    template: "payment-failed",
    language: buyer.language,
    parameters: { plan: plan.key, amountCents, graceUntil },
  } as const;
  await queueMail(trx, mail, now);
}
