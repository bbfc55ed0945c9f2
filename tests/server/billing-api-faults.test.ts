/** Stripe's API refuses, breaks off or loses its answer: nothing is left half done, and trying again does it once. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ApiFaultKind } from "#sandbox/stripe/api-faults.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { createPayments } from "#server/providers/stripe.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { customerOf } from "../support/payers.ts";

let world: BillingWorld;
let person: Person;

beforeAll(async () => {
  world = await startBillingWorld();
  // So that a lost answer does not cost a test eight seconds.
  world.deps.payments = createPayments(world.deps.config.stripe, undefined, { tryMs: 1_000, callMs: 10_000 });
});
afterAll(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.close();
});
beforeEach(async () => {
  world.setApiFaults([]);
  person = await world.person();
});

const customers = async () => (await world.deps.payments.customers.list({ limit: 100 })).data.length;

async function expectOnePurchase(before: number, url: string): Promise<void> {
  expect(await customers()).toBe(before + 1);
  const customer = await customerOf(world.database.db, person.userId);
  expect((await world.deps.payments.checkout.sessions.list({ customer })).data).toHaveLength(1);
  await world.pay(url);
  await world.settle();
  expect(await stateOf(world, person.userId)).toMatchObject({ subscription: { status: "active" }, wallet: { balance: 300 } });
}

test.each([
  ["server_error", "/v1/customers"],
  ["cut", "/v1/checkout/sessions"],
  ["cut_after_work", "/v1/customers"],
  ["cut_after_work", "/v1/checkout/sessions"],
  ["silent_after_work", "/v1/customers"],
  ["silent_after_work", "/v1/checkout/sessions"],
] satisfies [ApiFaultKind, string][])("a checkout during which %s strikes %s once opens all the same, once", async (kind, path) => {
  const before = await customers();
  world.setApiFaults([{ kind, method: "POST", path }]);
  const opened = await world.checkout(person, "starter_month");
  expect([opened.status, opened.code]).toEqual([200, ""]);
  await expectOnePurchase(before, opened.url);
});

test.each([
  ["rate_limited", 1],
  ["server_error", 3],
  ["cut_after_work", 3],
] satisfies [ApiFaultKind, number][])(
  "a checkout that %s ends is refused, and the next one finds nothing half done",
  async (kind, count) => {
    const before = await customers();
    for (const path of ["/v1/customers", "/v1/checkout/sessions"]) {
      world.setApiFaults([{ kind, method: "POST", path, count }]);
      expect(await world.checkout(person, "starter_month")).toMatchObject({ status: 502, code: "payment_provider_unavailable" });
    }
    expect((await stateOf(world, person.userId)).subscription.status).toBeUndefined();
    const opened = await world.checkout(person, "starter_month");
    expect(opened.status).toBe(200);
    await expectOnePurchase(before, opened.url);
  },
);
