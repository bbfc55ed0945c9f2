/** Orders by bank transfer get a column for their subscription, while processes of the release before go on with `stripe_session_id`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTransaction } from "#server/db/transaction.ts";
import { noteCompleted } from "#server/features/billing/orders.ts";
import { isOrderedOrPaidBefore, selectSubscriptionOfOrder, selectUnpaidOrderOf } from "#server/features/billing/transfer-queries.ts";
import type { MigrationSteps } from "#tests/support/migration-steps.ts";
import { stepsOver } from "#tests/support/migration-steps.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

let database: TestDatabase;
let { owner, goUp, goBack, close } = {} as MigrationSteps;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ owner, goUp, goBack, close } = await stepsOver("0119_subscriptions_of_orders", database));
});
afterAll(() => close());

/** An order of an account of its own, 45 days old. */
async function order(): Promise<string> {
  const { rows } = await owner.query<{ id: string }>("insert into users (created_at) values (now()) returning id");
  const { rows: orders } = await owner.query<{ id: string }>(
    `insert into orders (id, billing_account_id, price_id, amount_cents, currency, credits, language, terms, withdrawal, consented_at)
       values (uuidv7(), payer_of($1), 'enterprise_month', 9999, 'usd', 1250, 'en', '1', '1', now() - interval '45 days') returning id`,
    [rows[0]?.id],
  );
  return orders[0]?.id ?? "";
}

/** What the release before does with its completed order. */
const noteAsBefore = (id: string, session: string) =>
  database.pool.query("update orders set stripe_session_id = $2 where id = $1 and stripe_session_id is null", [id, session]);
const note = (id: string, begun: Parameters<typeof noteCompleted>[2]) => inTransaction(database.db, (trx) => noteCompleted(trx, id, begun));

async function sessionOf(id: string): Promise<string | null> {
  const { rows } = await owner.query<{ session: string | null }>("select stripe_session_id as session from orders where id = $1", [id]);
  return rows[0]?.session ?? null;
}

test("what both releases wrote is found by both, once, and the way down keeps it", async () => {
  await goBack();
  const [earlier, bySession] = [await order(), await order()];
  await noteAsBefore(earlier, "sub_earlier");
  await noteAsBefore(bySession, "cs_test_1");

  await goUp();
  expect(await selectSubscriptionOfOrder(database.db, earlier)).toBe("sub_earlier");
  expect(await selectSubscriptionOfOrder(database.db, bySession)).toBeUndefined();
  const [rolling, newer, paidByCard] = [await order(), await order(), await order()];
  await noteAsBefore(rolling, "sub_rolling");
  expect(await note(newer, { stripe_subscription_id: "sub_newer" })).toBe(true);
  expect(await note(paidByCard, { stripe_session_id: "cs_test_2" })).toBe(true);
  for (const [id, subscription] of [
    [earlier, "sub_earlier"],
    [rolling, "sub_rolling"],
    [newer, "sub_newer"],
  ] as const) {
    expect(await selectSubscriptionOfOrder(database.db, id)).toBe(subscription);
    expect(await selectUnpaidOrderOf(database.db, subscription)).toMatchObject({ id });
    expect(await isOrderedOrPaidBefore(database.db, subscription)).toBe(true);
    expect(await sessionOf(id), "where the release before looks").toBe(subscription);
    expect(await note(id, { stripe_subscription_id: "sub_other" })).toBe(false);
  }
  expect(await selectSubscriptionOfOrder(database.db, paidByCard)).toBeUndefined();
  expect(await note(paidByCard, { stripe_subscription_id: "sub_other" })).toBe(false);

  await goBack();
  const sessions = [];
  for (const id of [earlier, bySession, rolling, newer, paidByCard]) sessions.push(await sessionOf(id));
  expect(sessions).toEqual(["sub_earlier", "cs_test_1", "sub_rolling", "sub_newer", "cs_test_2"]);
  await goUp();
  expect(await selectSubscriptionOfOrder(database.db, newer)).toBe("sub_newer");
});

test("an order has a session or a subscription, never another one, and goes only if it waits for a transfer or was abandoned", async () => {
  const [byTransfer, bySession] = [await order(), await order()];
  await note(byTransfer, { stripe_subscription_id: "sub_kept" });
  await note(bySession, { stripe_session_id: "cs_test_3" });
  const change = (id: string, column: string, value: string | null) =>
    owner.query(`update orders set ${column} = $2 where id = $1`, [id, value]);
  await expect(change(byTransfer, "stripe_subscription_id", "sub_other")).rejects.toMatchObject({ code: "TS901" });
  await expect(change(byTransfer, "stripe_subscription_id", null)).rejects.toMatchObject({ code: "TS901" });
  await expect(change(bySession, "stripe_subscription_id", "sub_other")).rejects.toThrow("orders_session_or_subscription");
  await expect(owner.query("delete from orders where id = $1", [bySession])).rejects.toMatchObject({ code: "TS901" });
  expect((await owner.query("delete from orders where id = $1", [byTransfer])).rowCount).toBe(1);
});

test("an order that waits for a transfer is not abandoned, also when no copy of its subscription is a session any more", async () => {
  await owner.query("alter table orders disable trigger orders_copy_subscription");
  const [byTransfer, abandoned] = [await order(), await order()];
  await note(byTransfer, { stripe_subscription_id: "sub_waits" });
  expect(await sessionOf(byTransfer)).toBeNull();
  await owner.query("select * from retention_abandoned_orders(1000, null)");
  const { rows } = await owner.query<{ id: string }>("select id from orders where id in ($1, $2)", [byTransfer, abandoned]);
  expect(rows).toEqual([{ id: byTransfer }]);
  await owner.query("alter table orders enable trigger orders_copy_subscription");
});
