import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import type { Executor } from "./transaction.ts";

/**
 * For use in a statement: the billing account that pays for what a person asks. Every statement gets from a person to a wallet or
 * a customer this way, except the panel's list of people, which reads a page of them at once.
 */
export function payerOf(userId: string): RawBuilder<string> {
  return sql<string>`payer_of(${userId}::uuid)`;
}

/** Undefined if there is no such person. */
export async function findPayer(executor: Executor, userId: string): Promise<string | undefined> {
  const result = await sql<{ payer: string | null }>`select ${payerOf(userId)} as payer`.execute(executor);
  return result.rows[0]?.payer ?? undefined;
}

/** The people for whom each account pays, longest membership first. */
export async function selectMembersOfAll(executor: Executor, payerIds: readonly string[]): Promise<string[][]> {
  const { rows } = await sql<{ payer_id: string; user_id: string }>`/* prepared */ select billing_account_id as payer_id, user_id
    from billing_account_members where billing_account_id = any (${payerIds}::uuid[]) order by created_at, user_id`.execute(executor);
  const members = Map.groupBy(rows, ({ payer_id }) => payer_id);
  return payerIds.map((id) => (members.get(id) ?? []).map(({ user_id }) => user_id));
}

export async function selectMembers(executor: Executor, payerId: string): Promise<string[]> {
  return (await selectMembersOfAll(executor, [payerId])).flat();
}
