import { sql } from "kysely";
import { renewalNoticeDays } from "#domain/plans.ts";
import { clockChannel } from "../../db/business-clock.ts";
import type { Executor } from "../../db/transaction.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";
import type { SweepName } from "./sweeps.ts";

/** When each sweep next has something to do, not counting rows that are set aside. Null if nothing is planned. */
export async function selectDueInstants(executor: Executor): Promise<Record<SweepName, Date | null>> {
  const result = await sql<Record<SweepName, Date | null>>`/* prepared */
    select
      (select due_at from schedules where name = 'reconcile') as "reconcile",
      (select asked_at from full_checks where done_at is null) as "full-check",
      (select min(due_at) from scheduled_grants where posted_at is null and cancelled_at is null
        and ${notSetAside("scheduled-grants", sql`key`)}) as "scheduled-grants",
      (select min(grace_until) from user_subscriptions where grace_until is not null
        and ${notSetAside("grace-periods", sql`stripe_subscription_id`)}) as "grace-periods",
      (select min(due_at) from factor_resets where ended_at is null and ${notSetAside("factor-resets", sql`id`)}) as "factor-resets",
      (select min(expires_at) from grants where expired_at is null and ${notSetAside("expired-grants", sql`id`)}) as "expired-grants",
      (select min(due_at) from trials where ${notSetAside("trials", sql`user_id`)}) as "trials",
      (select min(current_period_end) - ${renewalNoticeDays} * interval '1 day' from user_subscriptions where billing_interval = 'year'
        and status = 'active' and not cancel_at_period_end and renewal_told_for is distinct from current_period_end
        and ${notSetAside("renewal-notices", sql`stripe_subscription_id`)}) as "renewal-notices",
      (select min(delete_at) from users where delete_at is not null and ${notSetAside("account-deletions", sql`id`)}) as "account-deletions"`.execute(
    executor,
  );
  const row = result.rows[0];
  if (!row) throw new Error("no row");
  return row;
}

/** Events received and jobs written that are not done yet. */
export async function countPendingWork(executor: Executor): Promise<number> {
  const result = await sql<{ pending: number }>`
    select (select count(*) from stripe_events where status = 'received') + (select count(*) from outbox) as pending`.execute(executor);
  return result.rows[0]?.pending ?? 0;
}

export async function selectOffset(executor: Executor): Promise<number> {
  const row = await executor.selectFrom("business_clock").select("offset_ms").executeTakeFirstOrThrow();
  return row.offset_ms;
}

/** Moves the clock, only forward, and notifies every process. */
export async function updateOffset(executor: Executor, offsetMs: number): Promise<void> {
  await sql`with moved as (update business_clock set offset_ms = ${offsetMs} where offset_ms < ${offsetMs} returning offset_ms)
    select pg_notify(${clockChannel}, offset_ms::text) from moved`.execute(executor);
}
