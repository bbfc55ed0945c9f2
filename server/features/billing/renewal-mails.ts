/**
 * The mails about renewals: one ahead of each yearly renewal, and then what became of each. They are about payments, so they are always
 * sent. Each is queued in the transaction of what it reports, under a key of it, so that it is sent once.
 */
import type Stripe from "stripe";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { BillingInterval, Plan } from "#domain/plans.ts";
import { graceDays, planList, priceCents } from "#domain/plans.ts";
import type { Trx } from "../../db/transaction.ts";
import type { InvoiceRow, OrderRow } from "../../db/types-billing.ts";
import { fromUnix } from "../../providers/stripe.ts";
import type { MailParameters } from "../notifications/templates.ts";
import { billedCents } from "./billed-amount.ts";
import { mailPayer } from "./mails.ts";
import type { AccountSubscription } from "./queries.ts";
import { taxIn } from "./stripe-tax.ts";

/** A subscription as our row and, with its discounts, as Stripe has it. */
interface Renewing {
  row: AccountSubscription;
  subscription: Pick<Stripe.Subscription, "discounts">;
}

/** What will be charged at the end of the period, less its discounts: for the plan to come, if the person chose another. */
function nextPayment({ row, subscription }: Renewing): { plan: Plan; interval: BillingInterval; priceCents: number } | undefined {
  const plan = planList.find(({ key }) => key === (row.pending_plan_key ?? row.plan_key));
  const interval = row.pending_interval ?? row.billing_interval;
  if (!plan) return undefined;
  const price = (row.pending_plan_key === null ? row.price_cents : null) ?? priceCents(plan, interval);
  return { plan, interval, priceCents: billedCents(price, subscription, row.current_period_end) };
}

/**
 * When access ends if an invoice stays unpaid: the days of grace begin when Stripe finalises it, because it is first charged then. For an
 * invoice that was sent they begin when it is due.
 */
export function graceEndOf(invoice: Pick<Stripe.Invoice, "created" | "due_date" | "status_transitions">): Date {
  return addMilliseconds(fromUnix(invoice.due_date ?? invoice.status_transitions.finalized_at ?? invoice.created), graceDays * dayMs);
}

/** Sent once per invoice that is to be paid by bank transfer. `order`: the one that led to the plan's first invoice. */
export async function mailTransferInvoice(
  trx: Trx,
  row: InvoiceRow,
  { order, isFirst, accessUntil }: { order: OrderRow | undefined; isFirst: boolean; accessUntil: Date },
  now: Date,
): Promise<void> {
  const plan = planList.find(({ key }) => key === row.plan_key);
  if (!plan || row.due_at === null) return;
  const parameters = {
    plan: plan.key,
    number: row.number ?? row.id,
    amountCents: row.unpaid_cents,
    dueAt: row.due_at.toISOString(),
    accessUntil: accessUntil.toISOString(),
    invoiceId: row.id,
    variant: isFirst ? ("first" as const) : ("renewal" as const),
    ...(order && { consentedAt: order.consented_at.toISOString(), termsVersion: order.terms }),
  };
  await mailPayer(trx, row.billing_account_id, { key: `transfer-invoice:${row.id}`, template: "transfer-invoice", parameters }, now);
}

/** What is unpaid, how long access lasts, and how to pay it or confirm it with the bank. Undefined if paying would keep no plan. */
export function paymentFailedParameters(row: InvoiceRow, graceUntil: Date, now: Date): MailParameters["payment-failed"] | undefined {
  const plan = planList.find(({ key }) => key === row.plan_key);
  if (!plan || row.stripe_subscription_id === null || graceUntil <= now) return undefined;
  return {
    plan: plan.key,
    amountCents: row.unpaid_cents,
    graceUntil: graceUntil.toISOString(),
    invoiceId: row.id,
    ...(row.needs_action ? { variant: "action" as const } : {}),
  };
}

/** Sent once per unpaid renewal. */
export async function mailPaymentFailed(trx: Trx, row: InvoiceRow, graceUntil: Date, now: Date): Promise<void> {
  const parameters = paymentFailedParameters(row, graceUntil, now);
  if (!parameters) return;
  const key = `payment-failed:${row.stripe_subscription_id}:${graceUntil.toISOString()}`;
  await mailPayer(trx, row.billing_account_id, { key, template: "payment-failed", parameters }, now);
}

interface LateTransfer {
  row: AccountSubscription;
  invoice: Stripe.Invoice;
}

/** What both mails about a transfer that has not arrived in time say. */
function lateTransfer({ row, invoice }: LateTransfer) {
  const plan = planList.find(({ key }) => key === row.plan_key);
  return plan && { plan: plan.key, number: invoice.number ?? invoice.id, amountCents: invoice.amount_due };
}

/** Sent once per renewal by transfer that was not paid when it was due: how long access lasts. */
export async function mailTransferOverdue(trx: Trx, payerId: string, late: LateTransfer, now: Date): Promise<void> {
  const { invoice, row } = late;
  const same = lateTransfer(late);
  if (!same || row.grace_until === null || row.grace_until <= now) return;
  const parameters = { ...same, graceUntil: row.grace_until.toISOString(), invoiceId: invoice.id };
  await mailPayer(trx, payerId, { key: `transfer-overdue:${invoice.id}`, template: "transfer-overdue", parameters }, now);
}

/** Sent once per plan that never began, because its first transfer had not arrived when it was due. */
export async function mailTransferLapsed(trx: Trx, payerId: string, late: LateTransfer, now: Date): Promise<void> {
  const { invoice } = late;
  const same = lateTransfer(late);
  if (!same || invoice.due_date === null || fromUnix(invoice.due_date) > now) return;
  const parameters = { ...same, dueAt: fromUnix(invoice.due_date).toISOString() };
  await mailPayer(trx, payerId, { key: `transfer-lapsed:${invoice.id}`, template: "transfer-lapsed", parameters }, now);
}

/** Sent once per paid renewal. `recovered`: its payment had failed before, and the person was told so. */
export async function mailRenewed(
  trx: Trx,
  payerId: string,
  { invoice, recovered, ...renewing }: Renewing & { invoice: Stripe.Invoice; recovered: boolean },
  now: Date,
): Promise<void> {
  const { row } = renewing;
  const plan = planList.find(({ key }) => key === row.plan_key);
  const next = nextPayment(renewing);
  if (!plan || !next) return;
  const parameters = {
    plan: plan.key,
    amountCents: invoice.amount_paid,
    ...taxIn(invoice),
    credits: plan.monthlyCredits,
    priceCents: next.priceCents,
    renewsAt: row.current_period_end.toISOString(),
    ...(row.cancel_at_period_end || row.ended_at ? { variant: "ending" as const } : {}),
  };
  const template = recovered ? "payment-recovered" : "plan-renewed";
  await mailPayer(trx, payerId, { key: `renewed:${invoice.id}`, template, parameters }, now);
}

/** Sent once per subscription that was paid and is over. `unpaid`: because its renewal was not paid. */
export async function mailEnded(
  trx: Trx,
  payerId: string,
  { row, unpaid }: { row: AccountSubscription; unpaid: boolean },
  now: Date,
): Promise<void> {
  const plan = planList.find(({ key }) => key === row.plan_key);
  if (!plan) return;
  const parameters = {
    plan: plan.key,
    endedAt: (row.ended_at ?? now).toISOString(),
    ...(unpaid ? { variant: "unpaid" as const } : {}),
  };
  await mailPayer(trx, payerId, { key: `plan-ended:${row.stripe_subscription_id}`, template: "plan-ended", parameters }, now);
}

/** Sent once per period of a yearly plan: when it renews, and for how much. */
export async function mailRenewalAhead(trx: Trx, payerId: string, renewing: Renewing, now: Date): Promise<void> {
  const next = nextPayment(renewing);
  if (!next) return;
  const { row } = renewing;
  const renewsAt = row.current_period_end.toISOString();
  const toAnother = next.interval === "year" && next.plan.key !== row.plan_key;
  const parameters = {
    plan: next.plan.key,
    interval: next.interval,
    priceCents: next.priceCents,
    renewsAt,
    ...(toAnother ? { variant: "change" as const } : {}),
  };
  const key = `renewal-ahead:${row.stripe_subscription_id}:${renewsAt}`;
  await mailPayer(trx, payerId, { key, template: "renewal-ahead", parameters }, now);
}
