/** SQL of bank transfers. */
import type { Insertable, Selectable } from "kysely";
import { selectMembers } from "../../db/payer.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { BankTransfers } from "../../db/types-billing.ts";

export type TransferRow = Selectable<BankTransfers>;

/** Whoever confirmed this address. */
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

export async function selectGrantsOf(executor: Executor, invoiceId: string): Promise<{ id: string; credits: number }[]> {
  return executor.selectFrom("grants").select(["id", "credits"]).where("invoice_id", "=", invoiceId).orderBy("id").execute();
}

/** Null if the account's people are deleted. */
export async function selectLongestMember(executor: Executor, payerId: string): Promise<string | null> {
  return (await selectMembers(executor, payerId))[0] ?? null;
}
