/** Races between reads of Stripe, and failures between two steps. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, createPool } from "#server/db/database.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { createPayments } from "#server/providers/stripe.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import { deliver } from "../support/billing-world.ts";
import { startHttpProxy } from "../support/http-proxy.ts";
import { payerIdOf } from "../support/payers.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.close());

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
    // Cut between reading and writing.
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
  const payerId = await payerIdOf(world.database.db, person.userId);
  await world.database.db.updateTable("billing_accounts").set({ stripe_customer_id: null }).where("id", "=", payerId).execute();
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
