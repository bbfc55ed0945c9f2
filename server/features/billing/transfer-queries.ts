/** SQL of bank transfers. */
import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import { payerOf, selectMembers } from "../../db/payer.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { BankTransfers, MoneyBacks, OrderRow, TransferOffers } from "../../db/types-billing.ts";

export type TransferRow = Selectable<BankTransfers>;

/** The person who confirmed this address. */
export async function selectConfirmedPerson(executor: Executor, email: string): Promise<string | undefined> {
  const row = await executor
    .selectFrom("identities")
    .innerJoin("users", "users.id", "identities.user_id")
    .select("users.id")
    .where("kind", "=", "email")
    .where("subject", "=", email.trim().normalize("NFC").toLowerCase())
    .where("verified_at", "is not", null)
    .where("delete_at", "is", null)
    .executeTakeFirst();
  return row?.id;
}

export async function selectTransfer(executor: Executor, reference: string): Promise<TransferRow | undefined> {
  return executor.selectFrom("bank_transfers").selectAll().where("reference", "=", reference).executeTakeFirst();
}

/** The transfer that paid the invoice, if one did. */
export async function selectTransferOf(executor: Executor, invoiceId: string): Promise<TransferRow | undefined> {
  return executor.selectFrom("bank_transfers").selectAll().where("invoice_id", "=", invoiceId).executeTakeFirst();
}

/** Those of the invoices that a recorded transfer paid, or was to pay. */
export async function selectTransferredInvoices(executor: Executor, invoiceIds: readonly string[]): Promise<Set<string>> {
  if (invoiceIds.length === 0) return new Set();
  const rows = await executor.selectFrom("bank_transfers").select("invoice_id").where("invoice_id", "in", invoiceIds).execute();
  return new Set(rows.map((row) => row.invoice_id));
}

/** The transfers for a subscription, without those that were taken back. */
export async function selectRecordedTransfers(executor: Executor, subscriptionId: string): Promise<TransferRow[]> {
  const transfers = executor.selectFrom("bank_transfers").selectAll().where("stripe_subscription_id", "=", subscriptionId);
  return transfers.where("reversed_at", "is", null).execute();
}

export interface AwaitedRow {
  id: string;
  number: string | null;
  unpaid_cents: number;
  due_at: Date;
  plan_key: string | null;
  billing_interval: "month" | "year" | null;
  is_agreed_on: boolean;
}

/**
 * The person's open invoices that are to be paid by transfer, the longest due first, without those whose transfer a job is still settling. With
 * a `limit` PostgreSQL looks each up by its index, where it would otherwise read a table that is small yet from its beginning to its end.
 */
export async function selectAwaited(executor: Executor, userId: string, limit: number): Promise<AwaitedRow[]> {
  const query = sql<AwaitedRow>`select i.id, i.number, i.unpaid_cents, i.due_at, i.plan_key, i.billing_interval,
      coalesce((select true from orders o where o.stripe_subscription_id = i.stripe_subscription_id limit 1),
        (select true from orders o where o.contract_id = i.stripe_subscription_id limit 1),
        (select true from bank_transfers b where b.stripe_subscription_id = i.stripe_subscription_id limit 1), false) as is_agreed_on
    from invoices i where i.billing_account_id = ${payerOf(userId)} and i.status = 'open' and i.due_at is not null
      and i.stripe_subscription_id is not null and (select true from bank_transfers b where b.invoice_id = i.id limit 1) is null
    order by i.due_at, i.id limit ${limit}`;
  return (await query.execute(executor)).rows;
}

/** Returns false if another transaction has just recorded its reference. */
export async function insertTransfer(trx: Trx, row: Insertable<BankTransfers>): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto("bank_transfers")
    .values(row)
    .onConflict((conflict) => conflict.column("reference").doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Returns false if it was reversed before. */
export async function markReversed(trx: Trx, reference: string, reason: string, now: Date): Promise<boolean> {
  const row = await trx
    .updateTable("bank_transfers")
    .set({ reversed_at: now, reversal_reason: reason })
    .where("reference", "=", reference)
    .where("reversed_at", "is", null)
    .returning("reference")
    .executeTakeFirst();
  return row !== undefined;
}

type MoneyBackRow = Selectable<MoneyBacks>;

/** What the team has to transfer back, the longest waiting first; `before`: only what was asked for until then. */
export async function selectOpenReturns(executor: Executor, limit: number, before?: Date): Promise<MoneyBackRow[]> {
  return executor
    .selectFrom("money_backs")
    .selectAll()
    .where("done_at", "is", null)
    .where("charge_id", "is", null)
    .$if(before !== undefined, (query) => query.where("asked_at", "<=", before ?? new Date(0)))
    .orderBy("asked_at")
    .limit(limit)
    .execute();
}

/** What of the transfer for this invoice went back or is to go back, and why. */
export async function selectReturnOf(executor: Executor, invoiceId: string): Promise<MoneyBackRow | undefined> {
  return executor
    .selectFrom("money_backs")
    .innerJoin("bank_transfers", "bank_transfers.reference", "money_backs.transfer_reference")
    .selectAll("money_backs")
    .where("bank_transfers.invoice_id", "=", invoiceId)
    .executeTakeFirst();
}

/** Whether the transfer paid nothing, because its invoice was void or paid by card. */
export async function isSurplus(executor: Executor, reference: string): Promise<boolean> {
  const returns = executor.selectFrom("money_backs").select("id").where("transfer_reference", "=", reference);
  return (await returns.where("kind", "=", "surplus").executeTakeFirst()) !== undefined;
}

/** Writes that all of the transfer is to go back. Returns undefined if that was written before. */
export async function insertSurplus(trx: Trx, transfer: TransferRow, now: Date): Promise<string | undefined> {
  const { reference, billing_account_id, invoice_id, amount_cents } = transfer;
  const row = await trx
    .insertInto("money_backs")
    .values({
      ...{ kind: "surplus", billing_account_id, invoice_id, charge_id: null, transfer_reference: reference, stripe_subscription_id: null },
      ...{ amount_cents, asked_at: now, done_at: null },
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/** Returns false if the reference was recorded for another withdrawal. */
export async function markReturned(
  trx: Trx,
  id: string,
  { reference, reason, now }: { reference: string; reason: string; now: Date },
): Promise<boolean> {
  const taken = await trx.selectFrom("money_backs").select("id").where("returned_reference", "=", reference).executeTakeFirst();
  if (taken) return false;
  const returned = { done_at: now, returned_reference: reference, return_reason: reason };
  await trx.updateTable("money_backs").set(returned).where("id", "=", id).execute();
  return true;
}

/** Closes what was to be returned of a transfer, because the bank took the transfer back. Returns its id, if there was anything. */
export async function closeReturn(trx: Trx, reference: string, now: Date): Promise<string | undefined> {
  const open = trx.updateTable("money_backs").set({ done_at: now }).where("transfer_reference", "=", reference);
  return (await open.where("done_at", "is", null).returning("id").executeTakeFirst())?.id;
}

/** Whether the person ordered the plan on our page, or a transfer for it was recorded before: then the first one said how it was agreed on. */
export async function isOrderedOrPaidBefore(executor: Executor, subscriptionId: string): Promise<boolean> {
  const order = await executor
    .selectFrom("orders")
    .select("id")
    .where((or) => or.or([or("stripe_subscription_id", "=", subscriptionId), or("contract_id", "=", subscriptionId)]))
    .limit(1)
    .executeTakeFirst();
  return order !== undefined || isPaidByTransfer(executor, subscriptionId);
}

/** Whether a transfer was recorded for the subscription. */
export async function isPaidByTransfer(executor: Executor, subscriptionId: string): Promise<boolean> {
  const transfers = executor.selectFrom("bank_transfers").select("reference").where("stripe_subscription_id", "=", subscriptionId);
  return (await transfers.limit(1).executeTakeFirst()) !== undefined;
}

/** Notes that the money is gone twice, if it had been transferred back before the bank took the transfer back. */
export async function claimReturn(trx: Trx, reference: string, now: Date): Promise<void> {
  const returned = trx.updateTable("money_backs").set({ claimed_at: now }).where("transfer_reference", "=", reference);
  await returned.where("returned_reference", "is not", null).execute();
}

/** Returns false if the reference was recorded for something else. */
export async function markReclaimed(
  trx: Trx,
  id: string,
  { reference, reason, now }: { reference: string | null; reason: string; now: Date },
): Promise<boolean> {
  const same = trx.selectFrom("money_backs").select("id").where("reclaimed_reference", "=", reference);
  if (reference !== null && (await same.executeTakeFirst())) return false;
  const reclaimed = { reclaimed_at: now, reclaimed_reference: reference, reclaim_reason: reason };
  await trx.updateTable("money_backs").set(reclaimed).where("id", "=", id).execute();
  return true;
}

export type OfferRow = Selectable<TransferOffers>;

export async function saveOffer(trx: Trx, row: Insertable<TransferOffers>): Promise<void> {
  const { user_id: _person, ...changes } = row;
  await trx
    .insertInto("transfer_offers")
    .values(row)
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(changes))
    .execute();
}

/** The person's offer, unless it has expired. */
export async function selectOffer(executor: Executor, userId: string, now: Date): Promise<OfferRow | undefined> {
  return executor.selectFrom("transfer_offers").selectAll().where("user_id", "=", userId).where("expires_at", ">", now).executeTakeFirst();
}

/** Forgets an order that Stripe refused, so that the next one is new. Does nothing if it was ordered again meanwhile. */
export async function forgetOrderOfOffer(executor: Executor, userId: string, orderId: string): Promise<void> {
  const row = executor.updateTable("transfer_offers").set({ order_id: null });
  await row.where("user_id", "=", userId).where("order_id", "=", orderId).execute();
}

export async function setOrderOfOffer(trx: Trx, userId: string, orderId: string): Promise<void> {
  await trx.updateTable("transfer_offers").set({ order_id: orderId }).where("user_id", "=", userId).execute();
}

/** The subscription that an order by transfer led to. */
export async function selectSubscriptionOfOrder(executor: Executor, orderId: string): Promise<string | undefined> {
  const row = await executor.selectFrom("orders").select("stripe_subscription_id").where("id", "=", orderId).executeTakeFirst();
  return row?.stripe_subscription_id ?? undefined;
}

/** The order that began the subscription, as long as nothing of it is paid. */
export async function selectUnpaidOrderOf(executor: Executor, subscriptionId: string): Promise<OrderRow | undefined> {
  return executor
    .selectFrom("orders")
    .selectAll()
    .where("stripe_subscription_id", "=", subscriptionId)
    .where("contract_id", "is", null)
    .executeTakeFirst();
}

export async function selectGrantsOf(executor: Executor, invoiceId: string): Promise<{ id: string; credits: number }[]> {
  return executor.selectFrom("grants").select(["id", "credits"]).where("invoice_id", "=", invoiceId).orderBy("id").execute();
}

/** Null if the account's people are deleted. */
export async function selectLongestMember(executor: Executor, payerId: string): Promise<string | null> {
  return (await selectMembers(executor, payerId))[0] ?? null;
}
