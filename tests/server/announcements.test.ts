/** A change stays committed, and counts as success, even if its live notification fails. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { createPool } from "#server/db/database.ts";
import { endGracePeriods, postDueScheduledGrants } from "#server/features/billing/schedules.ts";
import { createLiveEvents } from "#server/http/live-events.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.close());

/** The worker's dependencies with a live channel that has lost PostgreSQL for good. */
async function unheard() {
  const { databaseUrl } = world.deps.config;
  const pool = createPool(databaseUrl, 1, "lost");
  await pool.end();
  const live = createLiveEvents({ databaseUrl, redisUrl: undefined }, pool);
  return { deps: { ...world.deps, live }, close: () => live.close() };
}

test("a month's credits are posted even if their notification fails, and the sweep records no failure", async () => {
  const person = await world.person();
  await world.buy(person, "starter_year");
  await world.settle();
  const { deps, close } = await unheard();
  expect(await postDueScheduledGrants(deps, addMilliseconds(world.clock.now(), 32 * dayMs))).toBe(1);
  await close();
  expect(await world.database.db.selectFrom("sweep_failures").selectAll().execute()).toEqual([]);
});

test("the end of a grace period is processed even if its notification fails, and the sweep records no failure", async () => {
  const person = await world.person();
  await world.buy(person);
  await world.settle();
  const { db } = world.database;
  const own = db.updateTable("user_subscriptions").where("user_id", "=", person.userId);
  await own.set({ status: "past_due", grace_until: world.clock.now() }).execute();
  const { deps, close } = await unheard();
  // In Stripe the subscription is paid, so the sweep restores it to active instead of ending it.
  expect(await endGracePeriods(deps, world.clock.now())).toBe(0);
  await close();
  expect((await stateOf(world, person.userId)).subscription.status).toBe("active");
  expect(await db.selectFrom("sweep_failures").selectAll().execute()).toEqual([]);
});
