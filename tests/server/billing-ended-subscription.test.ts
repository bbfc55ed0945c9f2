/** Models need an active subscription (specification §1 and §4), whatever is left of the month it was paid for. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld({ OPENAI_API_KEY: "sk-unused", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" });
});
afterAll(async () => {
  await world.close();
});

test("the credits of an ended subscription can't be spent and are not shown as spendable", async () => {
  const person = await world.person();
  await world.buy(person);
  await world.settle();
  const check = async () => (await world.post("/api/functions/reliable-subscription-check", person)).json();
  expect(await check()).toMatchObject({ subscribed: true, credits: 300 });
  const { data } = await world.deps.payments.subscriptions.list({ limit: 1 });
  for (const subscription of data) await world.deps.payments.subscriptions.cancel(subscription.id);
  await world.settle();

  expect(await check()).toMatchObject({ subscribed: false, credits: 0 });
  for (const [model, quotedCredits] of [
    ["gpt-5-mini", 1],
    ["gpt-5", 5],
  ] as const) {
    const sent = await world.app.inject({
      method: "POST",
      url: "/api/generations",
      headers: { ...person.headers, "idempotency-key": randomUUID() },
      payload: { model, prompt: "What is a tessera?", quotedCredits },
    });
    expect([sent.statusCode, sent.json().code]).toEqual([402, "subscription_required"]);
  }
  const wallet = await world.app.inject({ method: "GET", url: "/api/credits/wallet", headers: person.headers });
  expect(wallet.json()).toMatchObject({ available: 0 });
});
