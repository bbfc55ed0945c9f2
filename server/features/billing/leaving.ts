/**
 * The subscription of somebody who deletes their account. We cancel it at once to the end of its period, and resume it if they take the
 * deletion back. Before we erase the person's data, we end it and delete the Stripe customer. All this follows the account's state in
 * PostgreSQL at that moment, so the jobs may run late, twice and in any order.
 */
import type Stripe from "stripe";
import { v7 as uuidv7 } from "uuid";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { orMissing } from "../../providers/stripe.ts";
import { cancelAtStripe } from "./cancellation.ts";
import { endAtStripe } from "./end-at-stripe.ts";
import { selectFormerCustomers } from "./former-customers.ts";
import * as queries from "./queries.ts";
import { syncSubscription } from "./sync-subscription.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "clock" | "log" | "live">;

/** Marks in the subscription's metadata that we cancelled it and may resume it. A cancellation by the person is left alone. */
const markName = "cancelled_for";
const markValue = "account_deletion";

/** The customer's running subscriptions, which is usually one: `findDoubled` ends a second one. */
async function runningSubscriptions({ payments }: BillingDeps, customerId: string): Promise<Stripe.Subscription[]> {
  const found = await orMissing(payments.subscriptions.list({ customer: customerId, limit: 100 }));
  return found?.data.filter(({ status }) => status !== "incomplete_expired") ?? [];
}

async function cancelAtPeriodEnd(deps: BillingDeps, { id, ...subscription }: Stripe.Subscription): Promise<void> {
  // Its first payment was never made, so it must not begin now.
  if (subscription.status === "incomplete") return endAtStripe(deps, id, "account-deleted");
  if (subscription.cancel_at_period_end || subscription.cancel_at !== null) return;
  await cancelAtStripe(deps, { id, schedule: subscription.schedule }, { [markName]: markValue });
}

async function resume({ payments }: BillingDeps, { id, metadata, ...subscription }: Stripe.Subscription): Promise<void> {
  if (metadata[markName] !== markValue) return;
  // Ours is `cancel_at_period_end`. A date alone comes from the portal, where the person took ours back and cancelled themselves.
  const cancellation = subscription.cancel_at_period_end ? { cancel_at_period_end: false } : {};
  await payments.subscriptions.update(id, { ...cancellation, metadata: { [markName]: "" } }, { idempotencyKey: uuidv7() });
}

/** Closes open payment pages, because paying one would begin a subscription. */
async function closeCheckouts({ db, payments }: BillingDeps, userId: string): Promise<void> {
  for (const { id, stripe_session_id: sessionId } of await queries.selectOpenCheckoutsOf(db, userId)) {
    const session = sessionId === null ? undefined : await orMissing(payments.checkout.sessions.retrieve(sessionId));
    if (session?.status === "complete") continue;
    if (session?.status === "open")
      await payments.checkout.sessions.expire(session.id, {}, { idempotencyKey: `account-deleted:${session.id}` });
    await queries.updateCheckout(db, id, { status: "expired" });
  }
}

/** Cancels or resumes the subscription, depending on the account's state. Throws Stripe's errors; the job is then tried again. */
export async function alignSubscription(deps: BillingDeps, userId: string): Promise<void> {
  for (;;) {
    const account = await queries.selectLeavingAccount(deps.db, userId);
    if (!account) return;
    if (account.isLeaving) await closeCheckouts(deps, userId);
    const customerId = account.stripe_customer_id;
    const subscriptions = customerId === null ? [] : await runningSubscriptions(deps, customerId);
    for (const subscription of subscriptions) {
      await (account.isLeaving ? cancelAtPeriodEnd(deps, subscription) : resume(deps, subscription));
      await syncSubscription(deps, subscription.id);
    }
    if (subscriptions.length > 0) await announceToMembers(deps, account.payer_id, "user_subscriptions");
    // If the person changed their mind meanwhile, there is a second job. The job that wrote to Stripe last notices it here.
    const after = await queries.selectLeavingAccount(deps.db, userId);
    if (after?.isLeaving === account.isLeaving) return;
  }
}

async function endSubscriptions(deps: BillingDeps, customer: string): Promise<void> {
  const all = { customer, status: "all", limit: 100 } as const;
  for (const { id, status } of (await orMissing(deps.payments.subscriptions.list(all)))?.data ?? []) {
    if (status !== "canceled" && status !== "incomplete_expired") await endAtStripe(deps, id, "account-deleted");
    // Now, because later nothing leads from the subscription to the account. Also if it has ended: its event may not have come yet.
    await syncSubscription(deps, id);
  }
}

/**
 * Ends the account's subscriptions and deletes its customer at Stripe. Does nothing while somebody else is a member of the account. Stripe
 * keeps the invoices. Throws Stripe's errors; doing it again is always safe.
 */
export async function endCustomer(deps: BillingDeps, userId: string): Promise<void> {
  const account = await queries.selectLeavingAccount(deps.db, userId);
  if (!account?.isLeaving) return;
  await closeCheckouts(deps, userId);
  // Stripe has ended those of former customers.
  for (const former of await selectFormerCustomers(deps.db, account.payer_id)) await endSubscriptions(deps, former);
  if (account.stripe_customer_id === null) return;
  await endSubscriptions(deps, account.stripe_customer_id);
  const key = { idempotencyKey: `account-deleted:${account.stripe_customer_id}` };
  await orMissing(deps.payments.customers.del(account.stripe_customer_id, {}, key));
}
