/** The mails of billing. Each is queued in the transaction of the event that it reports. */
import type { Pack } from "#domain/plans.ts";
import { planList, priceCents } from "#domain/plans.ts";
import type { Trx } from "../../db/transaction.ts";
import type { MailRequest } from "../notifications/service.ts";
import { queueMail } from "../notifications/service.ts";
import type { MailTemplate } from "../notifications/templates.ts";
import * as queries from "./queries.ts";

type Content<Template extends MailTemplate> = Pick<MailRequest<Template>, "key" | "template" | "parameters">;

/** To the account's longest member, in their language; to nobody while they are deleting their account. */
export async function mailPayer<Template extends MailTemplate>(
  trx: Trx,
  payerId: string,
  mail: Content<Template>,
  now: Date,
): Promise<void> {
  const buyer = await queries.selectRecipient(trx, payerId);
  if (!buyer) return;
  await queueMail(trx, { ...mail, userId: buyer.user_id, recipient: buyer.email, language: buyer.language }, now);
}

/** Sent once per subscription: it is paid, and has these credits. */
export async function mailStarted(trx: Trx, payerId: string, subscription: queries.AccountSubscription, now: Date): Promise<void> {
  const plan = planList.find((candidate) => candidate.key === subscription.plan_key);
  if (!plan) return;
  const key = `subscription-started:${subscription.stripe_subscription_id}`;
  const parameters = {
    plan: plan.key,
    interval: subscription.billing_interval,
    priceCents: priceCents(plan, subscription.billing_interval),
    credits: plan.monthlyCredits,
    renewsAt: subscription.current_period_end.toISOString(),
  };
  await mailPayer(trx, payerId, { key, template: "subscription-started", parameters }, now);
}

/** Sent once per pack: its credits, and until when they can be used. */
export async function mailPackBought(
  trx: Trx,
  payerId: string,
  bought: { sessionId: string; pack: Pack; amountCents: number; expiresAt: Date },
  now: Date,
): Promise<void> {
  const { sessionId, pack, amountCents, expiresAt } = bought;
  const parameters = { credits: pack.credits, amountCents, usableUntil: expiresAt.toISOString() };
  await mailPayer(trx, payerId, { key: `pack-bought:${sessionId}`, template: "pack-bought", parameters }, now);
}
