import { afterAll, beforeAll, expect, test } from "vitest";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import { startSchedules } from "../../worker/schedules.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.close());

test("an event lost while no worker ran for hours is found, though newer ones have come since", async () => {
  const person = await world.person();
  await world.buy(person, "starter_year");
  await world.settle();
  const { db } = world.database;
  // The last reconciliation there was.
  const dueAt = addMilliseconds(world.clock.now(), hourMs);
  await db
    .insertInto("schedules")
    .values({ name: "reconcile", due_at: dueAt, leased_until: null, last_run_at: null, last_error: null })
    .execute();
  const { stripe_subscription_id: subscription } = await db.selectFrom("user_subscriptions").selectAll().executeTakeFirstOrThrow();

  world.clock.moveTo(addMilliseconds(world.clock.now(), hourMs / 2));
  await world.deps.payments.subscriptions.cancel(subscription);
  await world.takeEvents();
  world.clock.moveTo(addMilliseconds(world.clock.now(), 5 * hourMs));
  await world.buy(await world.person());
  await world.settle();

  const schedules = startSchedules(world.deps);
  try {
    const status = async () => (await stateOf(world, person.userId)).subscription.status;
    await expect.poll(status, { timeout: 10_000 }).toBe("canceled");
  } finally {
    await schedules.stop();
  }
});
