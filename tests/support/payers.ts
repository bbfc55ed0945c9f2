import { findPayer } from "#server/db/payer.ts";
import type { Executor } from "#server/db/transaction.ts";
import type { TestDatabase } from "./postgres.ts";

/** The billing account that pays for the person. */
export async function payerIdOf(executor: Executor, userId: string): Promise<string> {
  const payerId = await findPayer(executor, userId);
  if (payerId === undefined) throw new Error(`nobody pays for ${userId}`);
  return payerId;
}

/** The account's customer at Stripe. */
export async function customerOf(executor: Executor, userId: string): Promise<string> {
  const account = await executor
    .selectFrom("billing_accounts")
    .select("stripe_customer_id")
    .where("id", "=", await payerIdOf(executor, userId))
    .executeTakeFirstOrThrow();
  return account.stripe_customer_id ?? "";
}

/** From now on the account that pays for `ownerId` pays for `userId` too. */
export async function joinAccountOf(database: TestDatabase, ownerId: string, userId: string): Promise<void> {
  await database.asOwner(
    `update billing_account_members set billing_account_id = payer_of('${ownerId}'), created_at = clock_timestamp() where user_id = '${userId}'`,
  );
}
