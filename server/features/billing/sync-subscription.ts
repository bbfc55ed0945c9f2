/**
 * Brings our rows in line with Stripe. Whichever event arrives, in whatever order, we read the whole subscription again (`read…`, outside any
 * transaction) and write it (`write…`, in one), under the subscription's version. A lock on the billing account keeps its subscriptions and
 * grants consistent.
 */
import type Stripe from "stripe";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { graceDays } from "#domain/plans.ts";
import type { SubscriptionStatus } from "#domain/subscription.ts";
import type { Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { faultPoint } from "../../fault-points.ts";
import { fromUnix, idOf, orMissing } from "../../providers/stripe.ts";
import { returnLate } from "./ask-back.ts";
import { mailChange } from "./change-mails.ts";
import { findPayerOfCustomer } from "./customers.ts";
import { findDoubled, undoDuplicate } from "./duplicates.ts";
import { endAtStripe, payRecorded, voidUnpaid } from "./end-at-stripe.ts";
import type { Lapse } from "./first-payment.ts";
import { lapseOf, latestInvoice, statusOf, wasNeverPaid } from "./first-payment.ts";
import type { PaidInvoice } from "./grant-invoice.ts";
import { cancelScheduledGrants, grantPaidInvoice } from "./grant-invoice.ts";
import { mailStarted } from "./mails.ts";
import { concludeOrder } from "./orders.ts";
import * as queries from "./queries.ts";
import { readUnrecordedInvoices } from "./read-invoices.ts";
import type { PendingPlan } from "./read-pending-plan.ts";
import { noPendingPlan, readPendingPlan } from "./read-pending-plan.ts";
import { OutdatedReading, recordDuplicate, writeReading } from "./readings.ts";
import { graceEndOf, mailEnded, mailRenewed, mailTransferLapsed, mailTransferOverdue } from "./renewal-mails.ts";
import { KnownPrices, planOfPrice } from "./stripe-catalogue.ts";
import { recordChange } from "./subscription-history.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log">;
/** What a write may use. It can't use Stripe, because it runs in a transaction. */
type WriteDeps = Pick<Deps, "clock" | "log">;

export interface SyncResult {
  payerId: string;
  /** The subscription's row changed. */
  subscriptionChanged: boolean;
  /** Credits were granted. */
  walletChanged: boolean;
  /** It ended and left its invoice open: Stripe gave up collecting, or we ended it and Stripe failed before the invoice was void. */
  endedUnpaid: boolean;
  lapsed: Lapse | undefined;
}

function graceUntil(subscription: Stripe.Subscription, current: queries.AccountSubscription | undefined, now: Date): Date {
  if (current?.stripe_subscription_id === subscription.id && current.grace_until) return current.grace_until;
  const invoice = latestInvoice(subscription);
  return invoice ? graceEndOf(invoice) : addMilliseconds(now, graceDays * dayMs);
}

/** What Stripe has of one subscription. */
interface SubscriptionReading {
  subscription: Stripe.Subscription;
  payerId: string;
  /** The subscription that the account's rows showed when `doubled` was decided. */
  currentId: string | undefined;
  /** The subscription that this one duplicates. */
  doubled: string | undefined;
  invoices: PaidInvoice[];
  pending: PendingPlan;
}

/** Returns undefined if the subscription's item is not a plan of ours. */
function toRow(
  { subscription, pending }: SubscriptionReading,
  current: queries.AccountSubscription | undefined,
  now: Date,
): queries.AccountSubscription | undefined {
  const item = subscription.items.data[0];
  const sold = item ? planOfPrice(item.price) : undefined;
  if (!item || !sold) return undefined;
  const status = statusOf(subscription);
  const endedAt = subscription.ended_at ?? subscription.canceled_at;
  const known = current?.stripe_subscription_id === subscription.id ? current.ended_at : null;
  return {
    plan_key: sold.plan.key,
    billing_interval: sold.interval,
    status,
    stripe_subscription_id: subscription.id,
    current_period_start: fromUnix(item.current_period_start),
    current_period_end: fromUnix(item.current_period_end),
    // The portal may set `cancel_at` to the end of the period instead of `cancel_at_period_end`.
    cancel_at_period_end:
      subscription.cancel_at_period_end || (subscription.cancel_at !== null && subscription.cancel_at <= item.current_period_end),
    // Stripe can be set up to give up charging before our days of grace are over. Without access, the plan still ends with them.
    grace_until: status === "past_due" || subscription.status === "unpaid" ? graceUntil(subscription, current, now) : null,
    started_at: fromUnix(subscription.start_date),
    ended_at: status === "canceled" ? (endedAt ? fromUnix(endedAt) : (known ?? now)) : null,
    updated_at: now,
    price_cents: item.price.unit_amount,
    ...(status === "canceled" ? noPendingPlan : pending),
  };
}

const ranks = { canceled: 0, incomplete: 1, suspended: 2, past_due: 3, active: 3 } as const;

/** An account's rows show its running subscription, otherwise its latest one. An event about an older one does not change them. */
function replaces(row: queries.AccountSubscription, current: queries.AccountSubscription | undefined): boolean {
  if (!current || current.stripe_subscription_id === row.stripe_subscription_id) return true;
  const difference = ranks[row.status] - ranks[current.status];
  return difference > 0 || (difference === 0 && row.started_at >= current.started_at);
}

function differs(row: queries.AccountSubscription, current: queries.AccountSubscription | undefined): boolean {
  if (!current) return true;
  const { updated_at: _left, ...before } = current;
  const { updated_at: _right, ...after } = row;
  const values = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).some(([key, value]) => JSON.stringify(value) !== JSON.stringify(values.get(key)));
}

/** Returns `missing` if Stripe no longer has the subscription, undefined if it belongs to none of our customers. */
async function readSubscription(deps: BillingDeps, subscriptionId: string): Promise<SubscriptionReading | "missing" | undefined> {
  const expand = ["latest_invoice", "schedule", "discounts.source.coupon"];
  const subscription = await orMissing(deps.payments.subscriptions.retrieve(subscriptionId, { expand }));
  faultPoint("event-read");
  if (!subscription) return "missing";
  const customerId = idOf(subscription.customer);
  const payerId = customerId === undefined ? undefined : await findPayerOfCustomer(deps, customerId);
  if (payerId === undefined) {
    deps.log.warn({ subscription: subscriptionId, customer: customerId }, "a subscription of an unknown customer is left alone");
    return undefined;
  }
  const current = await queries.selectAccountSubscription(deps.db, payerId);
  const doubled = await findDoubled(deps, current, subscription);
  const prices = new KnownPrices(
    deps.payments,
    subscription.items.data.map((item) => item.price),
  );
  const invoices = doubled === undefined ? await readUnrecordedInvoices(deps, subscription.id, prices) : [];
  const pending = await readPendingPlan(subscription, prices);
  return { subscription, payerId, currentId: current?.stripe_subscription_id, doubled, invoices, pending };
}

/** Whether the invoice paid for a whole period. A change of plan may begin one too, so Stripe's reason for the invoice does not tell. */
const beginsPeriod = ({ lines }: PaidInvoice) => lines.some(({ sold, proration }) => sold !== undefined && !proration);

/** Whether it was paid for a plan that had ended. False if a transfer paid it: recorded transfers have their own rule (decision 85). */
function isLate({ invoice, chargeId }: PaidInvoice, { ended_at: endedAt }: Stripe.Subscription): boolean {
  const paidAt = invoice.status_transitions.paid_at;
  return chargeId !== null && endedAt !== null && paidAt !== null && paidAt > endedAt;
}

/** Writes the paid invoices, and sends back what was paid after the plan's end. Returns the others that were new. */
async function writeInvoices(
  deps: WriteDeps,
  trx: Trx,
  { payerId, subscription, invoices }: SubscriptionReading,
  now: Date,
): Promise<readonly PaidInvoice[]> {
  const recorded = await queries.selectRecordedInvoices(
    trx,
    invoices.map(({ invoice }) => invoice.id),
  );
  const open = invoices.filter(({ invoice }) => !recorded.has(invoice.id));
  for (const paid of open) {
    const prorations = paid.lines.filter((line) => line.proration);
    if (prorations.length > 0)
      deps.log.warn({ invoice: paid.invoice.id, prorations }, "prorations were paid: recorded, and no credits granted");
    await grantPaidInvoice(trx, payerId, paid, now);
    if (isLate(paid, subscription)) await returnLate(trx, payerId, paid, now);
  }
  return open.filter((paid) => !isLate(paid, subscription));
}

/** Tells of a transfer that has not arrived when it was due: a renewal's, or the first one, without which the plan never began. */
async function mailLateTransfer(
  trx: Trx,
  { payerId, subscription }: SubscriptionReading,
  { row, known }: { row: queries.AccountSubscription; known: SubscriptionStatus | undefined },
  now: Date,
): Promise<void> {
  const invoice = latestInvoice(subscription);
  if (subscription.collection_method !== "send_invoice" || !invoice || invoice.status === "paid") return;
  if (row.status === "past_due") await mailTransferOverdue(trx, payerId, { row, invoice }, now);
  if (row.status === "canceled" && known === "incomplete") await mailTransferLapsed(trx, payerId, { row, invoice }, now);
}

/** The mails about what was written. */
async function mailWritten(
  trx: Trx,
  reading: SubscriptionReading,
  written: { current: queries.AccountSubscription | undefined; row: queries.AccountSubscription; granted: readonly PaidInvoice[] },
  now: Date,
): Promise<void> {
  const { payerId, subscription } = reading;
  const { current, row, granted } = written;
  const known = current?.stripe_subscription_id === row.stripe_subscription_id ? current.status : undefined;
  for (const paid of granted) {
    const { invoice } = paid;
    if (invoice.billing_reason === "subscription_create") {
      const order = await concludeOrder(trx, subscription.metadata.checkout_id, row.stripe_subscription_id, now);
      await mailStarted(trx, payerId, { row, subscription, invoice, order }, now);
    } else if (beginsPeriod(paid)) {
      await mailRenewed(trx, payerId, { invoice, row, subscription, recovered: known === "past_due" || known === "suspended" }, now);
    }
  }
  await mailLateTransfer(trx, reading, { row, known }, now);
  const hadBegun = known === "active" || known === "past_due" || known === "suspended";
  const neverPaid = known === "incomplete" && wasNeverPaid(subscription, now);
  if (row.status !== "canceled" || !(hadBegun || neverPaid)) return;
  const isGraceOver = known === "suspended" && current?.grace_until != null && current.grace_until <= now;
  const unpaid = neverPaid || known === "past_due" || isGraceOver || subscription.cancellation_details?.reason === "payment_failed";
  await mailEnded(trx, payerId, { row, unpaid }, now);
}

/** Ends a subscription that Stripe no longer has. */
async function endMissing(deps: WriteDeps, trx: Trx, subscriptionId: string): Promise<SyncResult | undefined> {
  const now = deps.clock.now();
  const payerId = await queries.selectPayerOfSubscription(trx, subscriptionId);
  const current = payerId === undefined ? undefined : await queries.selectAccountSubscription(trx, payerId);
  if (payerId === undefined || current?.stripe_subscription_id !== subscriptionId || current.status === "canceled") return undefined;
  deps.log.error({ subscription: subscriptionId }, "Stripe no longer has this subscription, so we ended it");
  const { user_id: _member, ...told } = current;
  const ended = { ...told, ...noPendingPlan, status: "canceled", grace_until: null, ended_at: now, updated_at: now } as const;
  await queries.saveSubscription(trx, payerId, ended);
  await recordChange(trx, payerId, ended, true);
  await cancelScheduledGrants(trx, subscriptionId, now, now);
  return { payerId, subscriptionChanged: true, walletChanged: false, endedUnpaid: false, lapsed: undefined };
}

type Written = SyncResult | { duplicate: Stripe.Subscription; doubled: string } | undefined;

async function writeSubscription(
  deps: WriteDeps,
  trx: Trx,
  subscriptionId: string,
  reading: SubscriptionReading | "missing",
): Promise<Written> {
  if (reading === "missing") return endMissing(deps, trx, subscriptionId);
  const { subscription, payerId, currentId, doubled } = reading;
  await queries.lockSubject(trx, `billing:${payerId}`);
  const now = deps.clock.now();
  const current = await queries.selectAccountSubscription(trx, payerId);
  if (current?.stripe_subscription_id !== currentId) throw new OutdatedReading(`another subscription of ${payerId} was written meanwhile`);
  if (doubled !== undefined) {
    await recordDuplicate(trx, subscriptionId, doubled);
    return { duplicate: subscription, doubled };
  }
  const row = toRow(reading, current, now);
  if (!row) {
    deps.log.warn({ subscription: subscription.id }, "a subscription to none of our plans is left alone");
    return undefined;
  }
  const subscriptionChanged = replaces(row, current) && differs(row, current);
  if (subscriptionChanged) await queries.saveSubscription(trx, payerId, row);
  const changeId = await recordChange(trx, payerId, row, subscription.status !== "incomplete_expired");
  if (changeId !== undefined && current) await mailChange(trx, payerId, { changeId, before: current, row, subscription }, now);
  const granted = await writeInvoices(deps, trx, reading, now);
  if (row.ended_at) await cancelScheduledGrants(trx, subscription.id, row.ended_at, now);
  await mailWritten(trx, reading, { current, row, granted }, now);
  const endedUnpaid = subscription.status === "canceled" && latestInvoice(subscription)?.status === "open";
  return { payerId, subscriptionChanged, walletChanged: granted.length > 0, endedUnpaid, lapsed: lapseOf(subscription) };
}

/**
 * Reads one subscription from Stripe with its paid invoices and writes the row, the grants and the months to come.
 * Returns undefined if it is not ours, or if another process has just written it. Throws Stripe's and PostgreSQL's errors; it is always safe
 * to repeat.
 */
export async function syncSubscription(deps: BillingDeps, subscriptionId: string): Promise<SyncResult | undefined> {
  const written = await writeReading(
    deps,
    subscriptionId,
    () => readSubscription(deps, subscriptionId),
    (trx, reading): Promise<Written> => writeSubscription(deps, trx, subscriptionId, reading),
  );
  if (!written) return undefined;
  if (!("duplicate" in written)) {
    // Its event brings the end to our rows.
    if (written.lapsed) {
      if (await payRecorded(deps, subscriptionId)) return syncSubscription(deps, subscriptionId);
      await endAtStripe(deps, subscriptionId, written.lapsed);
    }
    if (written.endedUnpaid) await voidUnpaid(deps, subscriptionId, "ended-unpaid");
    return written;
  }
  await undoDuplicate(deps, written.duplicate, written.doubled);
  return undefined;
}
