/** Races between reads of Stripe, and failures between two steps. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, createPool } from "#server/db/database.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { createPayments } from "#server/providers/stripe.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import { deliver } from "../support/billing-world.ts";
import { startHttpProxy } from "../support/http-proxy.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.close());

async function subscriptionOf(userId: string): Promise<string> {
  const row = await world.database.db
    .selectFrom("user_subscriptions")
    .select("stripe_subscription_id")
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return row.stripe_subscription_id;
}

test("an older read that arrives late does not overwrite a newer one", async () => {
  const person = await world.person();
  await world.buy(person);
  await world.settle();
  const subscription = await subscriptionOf(person.userId);
  let release = () => {};
  const opened = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reached = false;
  const proxy = await startHttpProxy(world.sandboxUrl, async ({ path }, answer) => {
    // Stripe has answered "active"; the proxy delays that answer.
    if (path === `/v1/subscriptions/${subscription}`) {
      reached = true;
      await opened;
    }
    return answer;
  });
  try {
    await world.deps.payments.subscriptions.update(subscription, { cancel_at_period_end: true });
    const [before] = (await world.takeEvents()).filter((event) => event.type === "customer.subscription.updated");
    await deliver(world, JSON.stringify(before));
    const slow = processStripeEvent(
      { ...world.deps, payments: createPayments({ ...world.deps.config.stripe, apiUrl: proxy.url }) },
      before?.id ?? "",
    );
    await expect.poll(() => reached).toBe(true);
    await world.deps.payments.subscriptions.cancel(subscription);
    const [after] = (await world.takeEvents()).filter((event) => event.type === "customer.subscription.deleted");
    await deliver(world, JSON.stringify(after));
    let done = false;
    const quick = processStripeEvent(world.deps, after?.id ?? "").then(() => {
      done = true;
    });
    const waiting = async () => (await world.deps.pool.query("select from pg_locks where locktype = 'advisory' and not granted")).rowCount;
    await expect.poll(async () => done || (await waiting()) === 1).toBe(true);
    release();
    await Promise.all([slow, quick]);
    expect((await stateOf(world, person.userId)).subscription.status).toBe("canceled");
  } finally {
    release();
    await proxy.close();
  }
});

test("an event whose processing is cut off from PostgreSQL leaves nothing half done, and a retry posts it once", async () => {
  const person = await world.person();
  await world.buy(person);
  const events = (await world.takeEvents()).filter((event) => event.type === "invoice.paid");
  for (const event of events) await deliver(world, JSON.stringify(event));
  const address = new URL(world.database.applicationUrl);
  const database = await startTcpProxy({ host: address.hostname, port: Number(address.port) });
  address.port = String(database.port);
  const pool = createPool(address.href, 4, "tessera test behind a proxy");
  let cut = false;
  const stripe = await startHttpProxy(world.sandboxUrl, async ({ path }, answer) => {
    // Cut in the middle of the transaction: the lock is held and Stripe is asked for the invoices.
    if (path === "/v1/invoices" && !cut) {
      cut = true;
      await database.cut();
    }
    return answer;
  });
  const payments = createPayments({ ...world.deps.config.stripe, apiUrl: stripe.url });
  const shaken = { ...world.deps, payments, pool, db: createDatabase(pool) };
  try {
    await expect(processStripeEvent(shaken, events[0]?.id ?? "")).rejects.toThrow();
    expect((await stateOf(world, person.userId)).grants).toEqual([]);
    await database.mend();
    await processStripeEvent(shaken, events[0]?.id ?? "");
    await processStripeEvent(world.deps, events[0]?.id ?? "");
    expect((await stateOf(world, person.userId)).grants).toEqual([expect.objectContaining({ credits: 300 })]);
  } finally {
    await pool.end();
    await database.cut();
    await stripe.close();
  }
});

test("a customer whose id was never saved is found by its metadata", async () => {
  const person = await world.person();
  await world.buy(person);
  await world.database.db.updateTable("users").set({ stripe_customer_id: null }).where("id", "=", person.userId).execute();
  await world.settle();
  expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
});

test("the events of a deleted account are ignored", async () => {
  const person = await world.person();
  await world.buy(person);
  const events = await world.takeEvents();
  await world.database.asOwner(`delete from users where id = '${person.userId}'`);
  await world.bring(events);
  expect((await stateOf(world, person.userId)).grants).toEqual([]);
});
