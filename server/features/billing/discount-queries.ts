import type { Selectable } from "kysely";
import { sql } from "kysely";
import { payerOf } from "../../db/payer.ts";
import type { Executor } from "../../db/transaction.ts";
import type { DiscountCampaigns } from "../../db/types-billing.ts";

export async function selectRunningCampaign(executor: Executor, now: Date): Promise<Selectable<DiscountCampaigns> | undefined> {
  const campaigns = executor.selectFrom("discount_campaigns").selectAll().where("starts_at", "<=", now).where("ends_at", ">", now);
  return campaigns.orderBy("created_at", "desc").limit(1).executeTakeFirst();
}

export async function hadCampaign(executor: Executor): Promise<boolean> {
  return (await executor.selectFrom("discount_campaigns").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/** Whether the account that pays for the person ever paid. */
export async function hasEverPaid(executor: Executor, userId: string): Promise<boolean> {
  const row = await executor
    .selectFrom("paid_invoices")
    .select("id")
    .where("billing_account_id", "=", payerOf(userId))
    .where("amount_paid_cents", ">", 0)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Whether the last plan that the account paid for ended by then, and none runs. A plan that never began, because its first payment failed,
 * does not count.
 */
export async function hasLeft(executor: Executor, userId: string, endedBy: Date): Promise<boolean> {
  const { rows } = await sql<{ left: boolean }>`
    with ends as (
        select max(c.valid_from) as at from subscription_changes c
          where c.billing_account_id = ${payerOf(userId)} and c.status = 'canceled' and exists (select from paid_invoices i
            where i.stripe_subscription_id = c.stripe_subscription_id and i.amount_paid_cents > 0))
    select coalesce(at <= ${endedBy}, false) and not exists (select from user_subscriptions
      where user_id = ${userId} and status in ('active', 'past_due', 'suspended')) as left from ends`.execute(executor);
  return rows[0]?.left ?? false;
}

/** Whether the account ordered a plan with a discount since then, and paid. */
export async function hadDiscountSince(executor: Executor, userId: string, since: Date): Promise<boolean> {
  const row = await executor
    .selectFrom("orders")
    .select("id")
    .where("billing_account_id", "=", payerOf(userId))
    .where("concluded_at", "is not", null)
    .whereRef("amount_cents", "<", "later_cents")
    .where("consented_at", ">=", since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
