/** The history of every subscription (table `subscription_changes`), including those that the account's rows don't show. It is never changed. */
import type { Selectable } from "kysely";
import type { Trx } from "../../db/transaction.ts";
import type { SubscriptionChanges } from "../../db/types-billing.ts";
import type { AccountSubscription } from "./queries.ts";

type Told = Omit<Selectable<SubscriptionChanges>, "id" | "billing_account_id" | "valid_from" | "recorded_at">;

function told(row: AccountSubscription | Selectable<SubscriptionChanges>): Told {
  return {
    stripe_subscription_id: row.stripe_subscription_id,
    plan_key: row.plan_key,
    billing_interval: row.billing_interval,
    price_cents: row.price_cents,
    status: row.status,
    cancel_at_period_end: row.cancel_at_period_end,
    pending_plan_key: row.pending_plan_key,
    pending_interval: row.pending_interval,
    pending_from: row.pending_from,
    current_period_start: row.current_period_start,
    current_period_end: row.current_period_end,
  };
}

/** When the change took effect: the subscription's start or end, the start of a new period, otherwise now. */
function validFrom(row: AccountSubscription, last: Selectable<SubscriptionChanges> | undefined): Date {
  if (row.ended_at) return row.ended_at;
  if (!last) return row.started_at;
  return row.current_period_start > last.current_period_start ? row.current_period_start : row.updated_at;
}

/**
 * Records the subscription's present state if it has changed. With `wasActive`, a subscription that ended before we heard of it also gets a
 * row for the time when it was active. The caller has raised the subscription's version. Returns the id of the new state, undefined if it is
 * the one recorded last.
 */
export async function recordChange(trx: Trx, payerId: string, row: AccountSubscription, wasActive: boolean): Promise<string | undefined> {
  const last = await trx
    .selectFrom("subscription_changes")
    .selectAll()
    .where("stripe_subscription_id", "=", row.stripe_subscription_id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (last && JSON.stringify(told(last)) === JSON.stringify(told(row))) return undefined;
  const changes = [{ ...told(row), valid_from: validFrom(row, last), recorded_at: row.updated_at }];
  if (!last && row.ended_at && wasActive)
    changes.unshift({
      ...told(row),
      status: "active",
      cancel_at_period_end: false,
      valid_from: row.started_at,
      recorded_at: row.updated_at,
    });
  // Inserted one by one, so that the ids have the order in which the changes happened.
  let id: string | undefined;
  for (const change of changes) {
    const values = { ...change, billing_account_id: payerId };
    ({ id } = await trx.insertInto("subscription_changes").values(values).returning("id").executeTakeFirstOrThrow());
  }
  return id;
}
