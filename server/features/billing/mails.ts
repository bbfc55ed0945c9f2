/** The mails of billing. Each is queued in the transaction of the event that it reports. */
import type Stripe from "stripe";
import type { Pack } from "#domain/plans.ts";
import { planList, priceCents } from "#domain/plans.ts";
import type { Trx } from "../../db/transaction.ts";
import type { OrderRow } from "../../db/types-billing.ts";
import { fromUnix } from "../../providers/stripe.ts";
import type { MailRequest } from "../notifications/service.ts";
import { queueMail } from "../notifications/service.ts";
import type { MailTemplate } from "../notifications/templates.ts";
import { billedCents } from "./billed-amount.ts";
import * as queries from "./queries.ts";
import { taxIn } from "./stripe-tax.ts";

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

/** What a confirming mail says of the contract besides what was bought: since when it holds, and what was agreed to before. */
function contractOf(concludedAt: Date, order: OrderRow | undefined) {
  const agreed = order && { consentedAt: order.consented_at.toISOString(), termsVersion: order.terms };
  return { concludedAt: concludedAt.toISOString(), ...agreed };
}

/** A contract that was paid, and the order that led to it; undefined if there was none. */
interface Concluded {
  row: queries.AccountSubscription;
  subscription: Pick<Stripe.Subscription, "discounts">;
  invoice: Stripe.Invoice;
  order: OrderRow | undefined;
}

/** Sent once per subscription: it is paid, and has these credits. Confirms the contract (Directive 2011/83/EU, article 8(7)). */
export async function mailStarted(trx: Trx, payerId: string, concluded: Concluded, now: Date): Promise<void> {
  const { row, subscription, invoice, order } = concluded;
  const plan = planList.find((candidate) => candidate.key === row.plan_key);
  if (!plan) return;
  const key = `subscription-started:${row.stripe_subscription_id}`;
  const paidAt = invoice.status_transitions.paid_at;
  const parameters = {
    plan: plan.key,
    interval: row.billing_interval,
    priceCents: billedCents(row.price_cents ?? priceCents(plan, row.billing_interval), subscription, row.current_period_end),
    amountCents: invoice.amount_paid,
    ...taxIn(invoice),
    credits: plan.monthlyCredits,
    beginsAt: row.current_period_start.toISOString(),
    renewsAt: row.current_period_end.toISOString(),
    ...contractOf(paidAt ? fromUnix(paidAt) : now, order),
  };
  await mailPayer(trx, payerId, { key, template: "subscription-started", parameters }, now);
}

interface BoughtPack {
  sessionId: string;
  pack: Pack;
  amountCents: number;
  paidAt: Date;
  expiresAt: Date;
  order: OrderRow | undefined;
  invoice: Stripe.Invoice | null;
}

/** Sent once per pack: its credits, and until when they can be used. Confirms the contract. */
export async function mailPackBought(trx: Trx, payerId: string, bought: BoughtPack, now: Date): Promise<void> {
  const { pack, amountCents, paidAt, expiresAt, order } = bought;
  const tax = taxIn(bought.invoice);
  const parameters = { credits: pack.credits, amountCents, ...tax, usableUntil: expiresAt.toISOString(), ...contractOf(paidAt, order) };
  await mailPayer(trx, payerId, { key: `pack-bought:${bought.sessionId}`, template: "pack-bought", parameters }, now);
}
