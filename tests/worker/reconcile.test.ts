import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { holdForSeveral } from "#server/features/credits/holds.ts";
import { createPayments } from "#server/providers/stripe.ts";
import { startSchedules } from "../../worker/schedules.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import { startHttpProxy } from "../support/http-proxy.ts";
import { giveCredits } from "../support/people.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.close());

test("reconciliation finds an event that was lost while no worker ran for hours, although newer ones have arrived since", async () => {
  const person = await world.person();
  await world.buy(person, "starter_year");
  await world.settle();
  const { db } = world.database;
  // Pretend that the last reconciliation has just run.
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
    await expect.poll(status).toBe("canceled");
  } finally {
    await schedules.stop();
  }
});

test("reconciliation asks Stripe for its new events alone, and for nothing that was paid before and is in order", async () => {
  for (let people = 0; people < 2; people += 1) await world.buy(await world.person());
  await world.settle();
  // The invoices of new customers are read once.
  await reconcileBilling(world.deps);
  const asked: string[] = [];
  const stripe = await startHttpProxy(world.sandboxUrl, ({ method, path }, answer) => {
    asked.push(`${method} ${path}`);
    return answer;
  });
  try {
    const payments = createPayments({ ...world.deps.config.stripe, apiUrl: stripe.url });
    expect(await reconcileBilling({ ...world.deps, payments })).toEqual({ repaired: 0 });
  } finally {
    await stripe.close();
  }
  expect(asked).toEqual(["GET /v1/events"]);
});

/** Events that have waited for an hour, of subscriptions that Stripe does not know. */
async function addWaiting(name: string, count: number): Promise<void> {
  const event = { type: "customer.subscription.updated", livemode: false, payload: "{}", status: "received", processed_at: null } as const;
  const ids = Array.from({ length: count }, (_, index) => `${name}_${index}`);
  const receivedAt = addMilliseconds(new Date(), -hourMs);
  await world.database.db
    .insertInto("stripe_events")
    .values(ids.map((id) => ({ ...event, id: `evt_${id}`, object_id: `sub_${id}`, received_at: receivedAt })))
    .execute();
}

async function waiting(): Promise<string[]> {
  const rows = await world.database.db.selectFrom("stripe_events").select("id").where("status", "=", "received").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

test("reconciliation stops asking Stripe after two failures in a row and leaves all events for its next run", async () => {
  const asked = new Set<string>();
  const stripe = await startHttpProxy(world.sandboxUrl, ({ path }, answer) => {
    if (!path.startsWith("/v1/subscriptions/")) return answer;
    asked.add(path);
    return undefined;
  });
  await addWaiting("away", 6);
  const payments = createPayments({ ...world.deps.config.stripe, apiUrl: stripe.url });
  await expect(reconcileBilling({ ...world.deps, payments })).rejects.toMatchObject({ type: "StripeConnectionError" });
  await stripe.close();
  expect(asked.size).toBe(2);
  expect(await waiting()).toHaveLength(6);
  await reconcileBilling(world.deps);
  expect(await waiting()).toEqual([]);
});

test("two events at which Stripe always fails keep neither the others nor what needs no Stripe", async () => {
  const { db } = world.database;
  const stripe = await startHttpProxy(world.sandboxUrl, ({ path }, answer) => (/sub_bad_[01]\b/.test(path) ? undefined : answer));
  await addWaiting("bad", 6);
  const { userId } = await world.person();
  const holdId = randomUUID();
  await inTransaction(db, async (trx) => {
    await giveCredits(trx, userId, 5);
    await holdForSeveral(trx, { holdId, userId, credits: 5, kinds: ["adjustment"], holdMs: -2 * hourMs, now: world.clock.now() });
  });
  const payments = createPayments({ ...world.deps.config.stripe, apiUrl: stripe.url });
  const deps = { ...world.deps, payments };
  await expect(reconcileBilling(deps)).rejects.toMatchObject({ type: "StripeConnectionError" });
  const found = db.selectFrom("findings").select("subject").where("kind", "=", "stale_hold");
  expect(await found.execute()).toEqual([{ subject: holdId }]);
  expect(await waiting()).toHaveLength(6);
  // They come last now.
  await reconcileBilling(deps);
  expect(await waiting()).toEqual(["evt_bad_0", "evt_bad_1"]);
  await stripe.close();
  await reconcileBilling(world.deps);
  expect(await waiting()).toEqual([]);
  expect(await db.selectFrom("sweep_failures").selectAll().where("sweep", "=", "repairs").execute()).toEqual([]);
});
