/** SQL of the invoices that people see. */
import { sql } from "kysely";
import { payerOf } from "../../db/payer.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { InvoiceRow } from "../../db/types-billing.ts";

export async function saveInvoice(trx: Trx, row: InvoiceRow): Promise<void> {
  const written = { ...row, credit_notes: JSON.stringify(row.credit_notes) };
  const { id: _known, ...changes } = written;
  await trx
    .insertInto("invoices")
    .values(written)
    .onConflict((conflict) => conflict.column("id").doUpdateSet(changes))
    .execute();
}

export async function selectInvoice(executor: Executor, id: string): Promise<InvoiceRow | undefined> {
  return executor.selectFrom("invoices").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function selectInvoicesOf(executor: Executor, ids: readonly string[]): Promise<InvoiceRow[]> {
  return ids.length === 0 ? [] : executor.selectFrom("invoices").selectAll().where("id", "in", ids).execute();
}

/** Does not find an invoice for which another account pays. */
export async function selectOwnInvoice(executor: Executor, userId: string, id: string): Promise<InvoiceRow | undefined> {
  return executor
    .selectFrom("invoices")
    .selectAll()
    .where("id", "=", id)
    .where("billing_account_id", "=", payerOf(userId))
    .executeTakeFirst();
}

/** The newest unpaid invoice of a subscription. */
export async function selectOpenInvoice(executor: Executor, userId: string, subscriptionId: string): Promise<InvoiceRow | undefined> {
  return executor
    .selectFrom("invoices")
    .selectAll()
    .where("billing_account_id", "=", payerOf(userId))
    .where("stripe_subscription_id", "=", subscriptionId)
    .where("status", "=", "open")
    .orderBy("issued_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Where a page of the list ended. */
export interface InvoicePlace {
  issuedAt: Date;
  id: string;
}

export type ListedInvoice = InvoiceRow & { transfer_reference: string | null };

/** The newest first, from `before` on. */
export async function selectInvoices(
  executor: Executor,
  userId: string,
  { before, limit }: { before: InvoicePlace | undefined; limit: number },
): Promise<ListedInvoice[]> {
  return executor
    .selectFrom("invoices")
    .leftJoin("bank_transfers", "bank_transfers.invoice_id", "invoices.id")
    .selectAll("invoices")
    .select("bank_transfers.reference as transfer_reference")
    .where("invoices.billing_account_id", "=", payerOf(userId))
    .$if(before !== undefined, (query) => query.where(sql<boolean>`(issued_at, id) < (${before?.issuedAt}, ${before?.id})`))
    .orderBy("issued_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** Whether the person's account has a customer whose invoices from before this table existed are still to be read. */
export async function isUnread(executor: Executor, userId: string): Promise<boolean> {
  const row = await executor
    .selectFrom("billing_accounts")
    .select("id")
    .where("id", "=", payerOf(userId))
    .where("stripe_customer_id", "is not", null)
    .where("invoices_read_at", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Customers whose invoices from before this table existed are still to be read, in the order of their accounts. */
export async function selectUnreadCustomers(
  executor: Executor,
  after: string | undefined,
  limit: number,
): Promise<{ payerId: string; customerId: string }[]> {
  const rows = await executor
    .selectFrom("billing_accounts")
    .select(["id", "stripe_customer_id"])
    .where("stripe_customer_id", "is not", null)
    .where("invoices_read_at", "is", null)
    .$if(after !== undefined, (query) => query.where("id", ">", after ?? ""))
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id, stripe_customer_id }) => ({ payerId: id, customerId: stripe_customer_id ?? "" }));
}

export async function markInvoicesRead(executor: Executor, payerId: string, now: Date): Promise<void> {
  await executor.updateTable("billing_accounts").set({ invoices_read_at: now }).where("id", "=", payerId).execute();
}
