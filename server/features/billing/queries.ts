/** SQL of billing: customers, subscriptions, paid invoices and checkouts. */

import type { Selectable } from "kysely";
import { sql } from "kysely";
import { validate as isUuid } from "uuid";
import { packs } from "#domain/plans.ts";
import { payerOf, selectMembers } from "../../db/payer.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { Checkouts, SubscriptionRow } from "../../db/types-billing.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";

/**
 * Locks a subject until the transaction ends, so that transactions about it run one after the other. Fails with `lock_not_available` if it
 * waits too long; the worker then tries again.
 */
export async function lockSubject(trx: Trx, subject: string): Promise<void> {
  await sql`select set_config('lock_timeout', '10s', true)`.execute(trx);
  await sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(trx);
}

/** Billing accounts, each with its longest member, whose address Stripe has and who gets the mails. */
function selectAccounts(executor: Executor) {
  return executor
    .selectFrom("billing_accounts")
    .innerJoin("billing_account_members", "billing_account_members.billing_account_id", "billing_accounts.id")
    .innerJoin("users", "users.id", "billing_account_members.user_id")
    .innerJoin("identities", (join) => join.onRef("identities.user_id", "=", "users.id").on("identities.kind", "=", "email"))
    .select(["billing_accounts.id as payer_id", "stripe_customer_id", "users.id as user_id", "subject as email", "users.name", "language"])
    .orderBy("billing_account_members.created_at")
    .orderBy("billing_account_members.user_id")
    .limit(1);
}

/** Who gets the account's mails. A person who is deleting their account gets none. */
export async function selectRecipient(executor: Executor, payerId: string) {
  return selectAccounts(executor).where("billing_accounts.id", "=", payerId).where("users.delete_at", "is", null).executeTakeFirst();
}

/** The account that pays for the person. */
export async function selectAccountOf(executor: Executor, userId: string) {
  return selectAccounts(executor).where("billing_accounts.id", "=", payerOf(userId)).executeTakeFirst();
}

/** `isLeaving` is true if everybody for whom the account pays is deleting their account. Undefined if there is no such person. */
export async function selectLeavingAccount(
  executor: Executor,
  userId: string,
): Promise<{ payer_id: string; stripe_customer_id: string | null; isLeaving: boolean } | undefined> {
  return executor
    .selectFrom("billing_accounts")
    .innerJoin("billing_account_members", "billing_account_members.billing_account_id", "billing_accounts.id")
    .innerJoin("users", "users.id", "billing_account_members.user_id")
    .select(["billing_accounts.id as payer_id", "stripe_customer_id", sql<boolean>`bool_and(delete_at is not null)`.as("isLeaving")])
    .where("billing_accounts.id", "=", payerOf(userId))
    .groupBy("billing_accounts.id")
    .executeTakeFirst();
}

export async function selectOpenCheckoutsOf(executor: Executor, userId: string): Promise<Pick<CheckoutRow, "id" | "stripe_session_id">[]> {
  return executor
    .selectFrom("checkouts")
    .select(["id", "stripe_session_id"])
    .where("user_id", "=", userId)
    .where("status", "=", "open")
    .execute();
}

export async function selectLanguage(executor: Executor, userId: string): Promise<string | undefined> {
  const row = await executor.selectFrom("users").select("language").where("id", "=", userId).executeTakeFirst();
  return row?.language;
}

/** Keeps the first customer; a later call changes nothing. An account without members gets no customer. */
export async function saveCustomer(executor: Executor, payerId: string, customerId: string): Promise<void> {
  await executor
    .updateTable("billing_accounts")
    .set({ stripe_customer_id: customerId })
    .where("id", "=", payerId)
    .where("stripe_customer_id", "is", null)
    .where("id", "in", (e) => e.selectFrom("billing_account_members").select("billing_account_id"))
    .execute();
}

/** Whether a paid invoice of the subscription covers the period that began at `start`. */
export async function hasPaidPeriod(executor: Executor, subscriptionId: string, start: Date): Promise<boolean> {
  const row = await executor
    .selectFrom("paid_invoices")
    .innerJoin("paid_invoice_lines", "paid_invoice_lines.invoice_id", "paid_invoices.id")
    .select("paid_invoices.id")
    .where("stripe_subscription_id", "=", subscriptionId)
    .where("period_start", ">=", start)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Also of a former customer. */
export async function selectPayerOfCustomer(executor: Executor, customerId: string): Promise<string | undefined> {
  const former = executor.selectFrom("former_customers").select("billing_account_id as id").where("stripe_customer_id", "=", customerId);
  const present = executor.selectFrom("billing_accounts").select("id").where("stripe_customer_id", "=", customerId);
  return (await present.unionAll(former).executeTakeFirst())?.id;
}

export async function selectSubscription(executor: Executor, userId: string): Promise<SubscriptionRow | undefined> {
  return executor.selectFrom("user_subscriptions").selectAll().where("user_id", "=", userId).executeTakeFirst();
}

/** The next month of an annual plan that has not been posted yet. */
export async function selectNextScheduledGrant(executor: Executor, userId: string): Promise<{ due_at: Date } | undefined> {
  return executor
    .selectFrom("scheduled_grants")
    .select("due_at")
    .where("billing_account_id", "=", payerOf(userId))
    .where("posted_at", "is", null)
    .where("cancelled_at", "is", null)
    .orderBy("due_at")
    .limit(1)
    .executeTakeFirst();
}

/** The row without the person, because everybody whom a subscription serves has the same row, and without the field that is only ours. */
export type AccountSubscription = Omit<SubscriptionRow, "user_id" | "renewal_told_for">;

/** The account's subscription, which is the row of its longest member. */
export async function selectAccountSubscription(executor: Executor, payerId: string): Promise<SubscriptionRow | undefined> {
  return executor
    .selectFrom("user_subscriptions")
    .innerJoin("billing_account_members", "billing_account_members.user_id", "user_subscriptions.user_id")
    .selectAll("user_subscriptions")
    .where("billing_account_id", "=", payerId)
    .orderBy("billing_account_members.created_at")
    .orderBy("user_subscriptions.user_id")
    .limit(1)
    .executeTakeFirst();
}

export async function selectPayerOfSubscription(executor: Executor, subscriptionId: string): Promise<string | undefined> {
  const row = await executor
    .selectFrom("user_subscriptions")
    .innerJoin("billing_account_members", "billing_account_members.user_id", "user_subscriptions.user_id")
    .select("billing_account_id")
    .where("stripe_subscription_id", "=", subscriptionId)
    .limit(1)
    .executeTakeFirst();
  return row?.billing_account_id;
}

/** Writes the row of each person the account pays for. */
export async function saveSubscription(trx: Trx, payerId: string, row: AccountSubscription): Promise<void> {
  const members = await selectMembers(trx, payerId);
  if (members.length === 0) return;
  await trx
    .insertInto("user_subscriptions")
    .values(members.map((userId) => ({ ...row, user_id: userId })))
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(row))
    .execute();
}

/** Subscriptions that should have been renewed or ended by now. The status is the condition of the index. */
export async function selectOverduePeriods(executor: Executor, before: Date, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom("user_subscriptions")
    .select("stripe_subscription_id")
    .where(sql<boolean>`status <> 'canceled'`)
    .where("current_period_end", "<=", before)
    .groupBy("stripe_subscription_id")
    .orderBy((e) => e.fn.min("current_period_end"))
    .limit(limit)
    .execute();
  return rows.map((row) => row.stripe_subscription_id);
}

export async function selectEndedGrace(executor: Executor, now: Date, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom("user_subscriptions")
    .select("stripe_subscription_id")
    .where("grace_until", "<=", now)
    .where(notSetAside("grace-periods", sql`stripe_subscription_id`))
    .groupBy("stripe_subscription_id")
    .orderBy((e) => e.fn.min("grace_until"))
    .limit(limit)
    .execute();
  return rows.map((row) => row.stripe_subscription_id);
}

/** Only for a subscription that is still unpaid. */
export async function extendGrace(executor: Executor, subscriptionId: string, until: Date): Promise<void> {
  await executor
    .updateTable("user_subscriptions")
    .set({ grace_until: until })
    .where("stripe_subscription_id", "=", subscriptionId)
    .where("grace_until", "is not", null)
    .execute();
}

/** Returns the session of one of our checkouts. */
export async function selectSessionOf(executor: Executor, checkoutId: string): Promise<string | undefined> {
  if (!isUuid(checkoutId)) return undefined;
  const row = await executor.selectFrom("checkouts").select("stripe_session_id").where("id", "=", checkoutId).executeTakeFirst();
  return row?.stripe_session_id ?? undefined;
}

/** Returns those of `invoiceIds` that are recorded already. */
export async function selectRecordedInvoices(executor: Executor, invoiceIds: readonly string[]): Promise<Set<string>> {
  if (invoiceIds.length === 0) return new Set();
  const rows = await executor.selectFrom("paid_invoices").select("id").where("id", "in", invoiceIds).execute();
  return new Set(rows.map((row) => row.id));
}

export type CheckoutRow = Selectable<Checkouts>;

export async function selectOpenCheckout(
  executor: Executor,
  checkout: { userId: string; priceId: string; now: Date },
): Promise<CheckoutRow | undefined> {
  return executor
    .selectFrom("checkouts")
    .selectAll()
    .where("user_id", "=", checkout.userId)
    .where("price_id", "=", checkout.priceId)
    .where("status", "=", "open")
    .where("expires_at", ">", checkout.now)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

export async function insertCheckout(
  executor: Executor,
  checkout: { userId: string; priceId: string; now: Date; expiresAt: Date },
): Promise<CheckoutRow> {
  return executor
    .insertInto("checkouts")
    .values({
      user_id: checkout.userId,
      price_id: checkout.priceId,
      stripe_session_id: null,
      url: null,
      expires_at: checkout.expiresAt,
      created_at: checkout.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateCheckout(
  executor: Executor,
  checkoutId: string,
  changes: { stripe_session_id?: string; url?: string; expires_at?: Date; status?: CheckoutRow["status"] },
): Promise<void> {
  await executor.updateTable("checkouts").set(changes).where("id", "=", checkoutId).execute();
}

export async function selectOwnCheckout(executor: Executor, userId: string, sessionId: string) {
  return (
    executor
      .selectFrom("checkouts")
      .leftJoin("orders", "orders.id", "checkouts.id")
      .select(["checkouts.id", "status", "checkouts.price_id", "checkouts.created_at", "contract_id"])
      // The payment page was completed. What is open after that waits for a bank's debit.
      .select((e) => e("orders.stripe_session_id", "is not", null).as("is_complete"))
      .where("user_id", "=", userId)
      .where("checkouts.stripe_session_id", "=", sessionId)
      .executeTakeFirst()
  );
}

/** The other checkouts of a plan that could still be paid, of everybody for whom the same account pays. */
export async function selectOtherOpenCheckouts(executor: Executor, userId: string, sessionId: string) {
  return executor
    .selectFrom("checkouts")
    .innerJoin("billing_account_members", "billing_account_members.user_id", "checkouts.user_id")
    .select(["id", "stripe_session_id"])
    .where("billing_account_id", "=", payerOf(userId))
    .where("status", "=", "open")
    .where(
      "price_id",
      "not in",
      packs.map(({ key }) => key),
    )
    .where((or) => or.or([or("stripe_session_id", "is", null), or("stripe_session_id", "<>", sessionId)]))
    .execute();
}

/** Finds the checkout by its session or, if saving the session failed, by the checkout's id in the session. */
export async function selectCheckoutOfSession(executor: Executor, sessionId: string, checkoutId: string | undefined) {
  const named = checkoutId !== undefined && isUuid(checkoutId) ? checkoutId : null;
  return executor
    .selectFrom("checkouts")
    .select(["id", "user_id", "price_id"])
    .where((or) => or.or([or("stripe_session_id", "=", sessionId), or("id", "=", named)]))
    .limit(1)
    .executeTakeFirst();
}
