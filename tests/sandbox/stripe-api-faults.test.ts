/** The switch for faults of Stripe's API. */
import Stripe from "stripe";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startSandbox as startWholeSandbox } from "#tests/support/sandbox.ts";
import type { Harness } from "./stripe/harness.ts";
import { Receiver, startSandbox } from "./stripe/harness.ts";

let harness: Harness;
let receiver: Receiver;

beforeEach(async () => {
  receiver = new Receiver();
  harness = await startSandbox({ webhookPort: await receiver.listen() });
});

afterEach(async () => {
  await harness.close();
  await receiver.close();
});

const create = () => harness.stripe.customers.create({ email: "a@example.com" }, { idempotencyKey: "once", timeout: 500 });
const made = async () => (await harness.stripe.customers.list()).data.length;

test("a refused call did nothing and is not remembered; 429 says when to come again", async () => {
  harness.sandbox.setApiFaults([{ kind: "rate_limited" }, { kind: "server_error" }]);
  await expect(create()).rejects.toMatchObject({ statusCode: 429, code: "rate_limit", headers: { "retry-after": "1" } });
  await expect(create()).rejects.toMatchObject({ statusCode: 500, type: "StripeAPIError" });
  expect(await made()).toBe(0);
  await create();
  expect(await made()).toBe(1);
});

test.each(["cut", "cut_after_work", "silent_after_work"] as const)("%s: no answer comes, and the same key makes one", async (kind) => {
  // The package sends a call again by itself if the connection was closed.
  const count = kind === "silent_after_work" ? 1 : 2;
  harness.sandbox.setApiFaults([{ kind, method: "POST", path: "/v1/customers", count }]);
  await harness.stripe.products.list();
  await expect(create()).rejects.toBeInstanceOf(Stripe.errors.StripeConnectionError);
  expect(await made()).toBe(kind === "cut" ? 0 : 1);
  await create();
  expect(await made()).toBe(1);
});

test("a script sets a fault by method and path, and a person finds the switch on the control page", async () => {
  const sandbox = await startWholeSandbox();
  try {
    const set = (body: object) =>
      fetch(`${sandbox.url}/stripe/api-fault`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const read = async (path: string) =>
      (await fetch(`${sandbox.url}${path}`, { headers: { authorization: "Bearer sk_test_sandbox" } })).status;
    const fault = { kind: "server_error", method: "GET", path: "/v1/products", count: 2 };
    const { kind, ...where } = fault;
    expect(await (await set({ fault: kind, ...where })).json()).toEqual({ faults: [fault] });
    expect([await read("/v1/customers"), await read("/v1/products"), await read("/v1/products"), await read("/v1/products")]).toEqual([
      200, 500, 500, 200,
    ]);
    expect((await set({ fault: "on_fire" })).status).toBe(400);
    expect(await (await fetch(sandbox.url)).text()).toContain('action="/stripe/api-fault"');
  } finally {
    await sandbox.close();
  }
});
