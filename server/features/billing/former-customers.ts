/**
 * Customers that somebody deleted at Stripe (decision 120). The account's next order makes another one. What still happens to the payments
 * and invoices of the former one is booked to the account by the row that is kept here, because Stripe keeps no metadata of it.
 */
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { orMissing } from "../../providers/stripe.ts";

/** The account's customers that were deleted. */
export async function selectFormerCustomers(executor: Executor, payerId: string): Promise<string[]> {
  const rows = await executor
    .selectFrom("former_customers")
    .select("stripe_customer_id")
    .where("billing_account_id", "=", payerId)
    .execute();
  return rows.map((row) => row.stripe_customer_id);
}

/**
 * Notes the customer as a former one if Stripe says that it is deleted, and returns whether it does. A customer that Stripe does not know
 * at all stays, because with a wrong key it would know none of them. Needs no version, because a deletion is final. Safe to repeat.
 */
export async function retireDeleted(deps: Pick<Deps, "db" | "payments" | "clock">, payerId: string, customerId: string): Promise<boolean> {
  const customer = await orMissing(deps.payments.customers.retrieve(customerId));
  if (!customer?.deleted) return false;
  await inTransaction(deps.db, async (trx) => {
    // Deleting the account's last member locks it too. After that no row may lead from a customer to the account.
    await trx.selectFrom("billing_accounts").select("id").where("id", "=", payerId).forNoKeyUpdate().execute();
    const members = trx.selectFrom("billing_account_members").select("user_id").where("billing_account_id", "=", payerId);
    if ((await members.executeTakeFirst()) === undefined) return;
    await trx
      .insertInto("former_customers")
      .values({ stripe_customer_id: customerId, billing_account_id: payerId, retired_at: deps.clock.now() })
      .onConflict((known) => known.doNothing())
      .execute();
    await trx
      .updateTable("billing_accounts")
      .set({ stripe_customer_id: null })
      .where("id", "=", payerId)
      .where("stripe_customer_id", "=", customerId)
      .execute();
  });
  return true;
}
