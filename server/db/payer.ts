import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { Executor } from "./transaction.ts";

/**
 * For use in a statement: the billing account that pays for what a person asks. There is no other way from a person to a wallet
 * or a customer.
 */
export function payerOf(userId: string): RawBuilder<string> {
  return sql<string>`payer_of(${userId}::uuid)`;
}

/** Undefined if there is no such person. */
export async function findPayer(executor: Executor, userId: string): Promise<string | undefined> {
  const result = await sql<{ payer: string | null }>`select ${payerOf(userId)} as payer`.execute(executor);
  return result.rows[0]?.payer ?? undefined;
}

/** The people an account pays for, longest membership first. Asked at the end of every answer. */
export async function selectMembers(executor: Executor, payerId: string): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`/* prepared */ select user_id from billing_account_members
    where billing_account_id = ${payerId} order by created_at, user_id`.execute(executor);
  return rows.map((row) => row.user_id);
}
