/** Stripe's customer has the account's address, also when that changes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { findPayer } from "#server/db/payer.ts";
import { ensureCustomer, updateCustomer } from "#server/features/billing/customers.ts";
import { createPayments } from "#server/providers/stripe.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { PassOn } from "../support/http-proxy.ts";
import { startHttpProxy } from "../support/http-proxy.ts";

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.close());

async function moveTo(userId: string, email: string): Promise<void> {
  await world.database.db.updateTable("identities").set({ subject: email }).where("user_id", "=", userId).execute();
}

async function emailAtStripe(customerId: string): Promise<string | null> {
  const customer = await world.deps.payments.customers.retrieve(customerId);
  return customer.deleted ? null : customer.email;
}

/** Runs `work` with a Stripe whose answers `passOn` sees first. */
async function through<T>(passOn: PassOn, work: (deps: BillingWorld["deps"]) => Promise<T>): Promise<T> {
  const proxy = await startHttpProxy(world.sandboxUrl, passOn);
  try {
    return await work({ ...world.deps, payments: createPayments({ ...world.deps.config.stripe, apiUrl: proxy.url }) });
  } finally {
    await proxy.close();
  }
}

test("a customer gets the address of the account, and a later one by the job; without a customer the job does nothing", async () => {
  const { userId, email } = await world.person();
  await updateCustomer(world.deps, userId);
  const { customerId } = await ensureCustomer(world.deps, userId);
  expect(await emailAtStripe(customerId)).toBe(email);
  await moveTo(userId, "moved@example.com");
  await updateCustomer(world.deps, userId);
  expect(await emailAtStripe(customerId)).toBe("moved@example.com");
});

test("an address that changes between two tries to make the customer makes no second one, and no error", async () => {
  const { userId } = await world.person();
  let lost = false;
  const loseFirst: PassOn = async ({ method, path }, answer) => {
    if (method !== "POST" || path !== "/v1/customers" || lost) return answer;
    lost = true;
    // Stripe has made it, and nobody here knows. The client asks again, and so does the person with another address.
    await moveTo(userId, "between@example.com");
    return undefined;
  };
  const { customerId } = await through(loseFirst, (deps) => ensureCustomer(deps, userId));
  await updateCustomer(world.deps, userId);
  expect([lost, await emailAtStripe(customerId)]).toEqual([true, "between@example.com"]);
  const payerId = await findPayer(world.database.db, userId);
  const all = await world.deps.payments.customers.list({ limit: 100 });
  expect(all.data.filter(({ metadata }) => metadata.billing_account_id === payerId)).toHaveLength(1);
});

test("an address that changes while the customer is made is brought there by the job that is written with the customer", async () => {
  const { userId } = await world.person();
  const moveAtUpdate: PassOn = async ({ method, path }, answer) => {
    if (method === "POST" && path.startsWith("/v1/customers/")) await moveTo(userId, "meanwhile@example.com");
    return answer;
  };
  const { customerId } = await through(moveAtUpdate, (deps) => ensureCustomer(deps, userId));
  const jobs = await world.database.db.selectFrom("outbox").select("payload").where("job", "=", "update-customer").execute();
  expect(jobs.map(({ payload }) => payload)).toContainEqual({ userId });
  await updateCustomer(world.deps, userId);
  expect(await emailAtStripe(customerId)).toBe("meanwhile@example.com");
});

test("an older address that reaches Stripe after a newer one doesn't stay there", async () => {
  const { userId } = await world.person();
  const { customerId } = await ensureCustomer(world.deps, userId);
  await moveTo(userId, "older@example.com");
  let late = false;
  const arriveLate: PassOn = async (_request, answer) => {
    if (late) return answer;
    late = true;
    await moveTo(userId, "newer@example.com");
    await updateCustomer(world.deps, userId);
    // Pretend that the call whose answer this is was under way all the while.
    await world.deps.payments.customers.update(customerId, { email: "older@example.com" });
    return answer;
  };
  await through(arriveLate, (deps) => updateCustomer(deps, userId));
  expect(await emailAtStripe(customerId)).toBe("newer@example.com");
});
