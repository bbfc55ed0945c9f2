/** Webhook endpoints and portal configurations that the API makes. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import Stripe from "stripe";
import { afterAll, beforeAll, expect, test } from "vitest";
import { firstDelayMs } from "#sandbox/stripe/deliver.ts";
import { until } from "#tests/support/until.ts";
import type { Harness } from "./stripe/harness.ts";
import { Receiver, startSandbox } from "./stripe/harness.ts";

let harness: Harness;
const own = new Receiver();
const received: { body: string; signature: string }[] = [];
let status = 200;
let refusals = 0;
const other = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (status !== 200) refusals += 1;
    else received.push({ body: Buffer.concat(chunks).toString(), signature: String(request.headers["stripe-signature"]) });
    response.writeHead(status).end();
  });
});
let ownPort: number;
let url: string;

beforeAll(async () => {
  ownPort = await own.listen();
  harness = await startSandbox({ webhookPort: ownPort });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/hook`;
});
afterAll(async () => {
  await harness.close();
  await own.close();
  other.closeAllConnections();
  other.close();
});

const typesOf = () => received.map(({ body }) => (JSON.parse(body) as Stripe.Event).type);

test("an endpoint gets the types it asks for, signed with its own secret, which only its creation shows", async () => {
  const { stripe } = harness;
  const made = await stripe.webhookEndpoints.create({ url, enabled_events: ["customer.created"], metadata: { a: "b" } });
  expect(made).toMatchObject({ status: "enabled", api_version: null, enabled_events: ["customer.created"], metadata: { a: "b" } });
  expect(made.secret).toMatch(/^whsec_/);
  expect(await stripe.webhookEndpoints.retrieve(made.id)).not.toHaveProperty("secret");
  expect((await stripe.webhookEndpoints.list()).data.map(({ id }) => id)).toEqual([made.id]);

  await stripe.products.create({ name: "Not asked for" });
  await stripe.customers.create({ email: "ada@example.com" });
  await until(() => received.length === 1, "delivered");
  const [first] = received;
  expect(Stripe.webhooks.constructEvent(first?.body ?? "", first?.signature ?? "", made.secret ?? "").type).toBe("customer.created");
  await until(() => own.types().includes("product.created"), "the product's own endpoint gets everything");

  status = 500;
  await stripe.customers.create({});
  await until(() => harness.sandbox.pendingDeliveries() === 0, "the clock does not wait for it");
  status = 200;
  await until(() => received.length === 2, "delivered later");

  await stripe.webhookEndpoints.update(made.id, { disabled: true });
  await stripe.customers.create({});
  await stripe.webhookEndpoints.update(made.id, { disabled: false, enabled_events: ["*"] });
  await stripe.products.create({ name: "Asked for" });
  await until(() => typesOf().includes("product.created"), "delivered again");
  expect(typesOf().filter((type) => type === "customer.created")).toHaveLength(2);
  expect(await stripe.webhookEndpoints.del(made.id)).toEqual({ id: made.id, object: "webhook_endpoint", deleted: true });
  await expect(stripe.webhookEndpoints.retrieve(made.id)).rejects.toMatchObject({ statusCode: 404 });
});

test("after the sandbox has closed, no event is delivered and no read of its database is tried", async () => {
  const closing = await startSandbox({ webhookPort: ownPort });
  const failures: unknown[] = [];
  const note = (reason: unknown) => failures.push(reason);
  process.on("unhandledRejection", note);
  try {
    status = 500;
    await closing.stripe.webhookEndpoints.create({ url, enabled_events: ["customer.created"] });
    // Several events in a row wake the deliveries several times, and each pass finds the first one still waiting for its retry.
    for (let customers = 0; customers < 5; customers += 1) await closing.stripe.customers.create({});
    const before = refusals;
    await until(() => refusals > before, "the deliveries are being tried again");
    await closing.close();
    const after = refusals;
    await setTimeout(3 * firstDelayMs);
    expect(failures).toEqual([]);
    // The one that was on its way when the sandbox closed may still arrive.
    expect(refusals).toBeLessThanOrEqual(after + 1);
  } finally {
    process.off("unhandledRejection", note);
    status = 200;
  }
});

test("what an endpoint needs, and what the sandbox does not play, is said by name", async () => {
  const { webhookEndpoints } = harness.stripe;
  const create = (parameters: object) => webhookEndpoints.create(parameters as Stripe.WebhookEndpointCreateParams);
  await expect(create({ enabled_events: ["*"] })).rejects.toMatchObject({ code: "parameter_missing", param: "url" });
  await expect(create({ url })).rejects.toMatchObject({ code: "parameter_missing", param: "enabled_events" });
  await expect(create({ url: "ftp://127.0.0.1", enabled_events: ["*"] })).rejects.toMatchObject({ code: "url_invalid" });
  await expect(create({ url, enabled_events: ["*"], connect: true })).rejects.toThrow("does not play connect");
  await expect(create({ url, enabled_events: ["*"], api_version: "2020-08-27" })).rejects.toThrow("plays api_version only as");
});

test("a portal's configuration is made, changed and used; what the page does not show is refused by name", async () => {
  const { stripe } = harness;
  const features = {
    invoice_history: { enabled: true },
    payment_method_update: { enabled: true },
    subscription_cancel: { enabled: true, mode: "at_period_end" },
    subscription_update: { enabled: false },
  } as const;
  const made = await stripe.billingPortal.configurations.create({ name: "Ours", features, metadata: { tessera: "portal" } });
  expect(made).toMatchObject({
    active: true,
    is_default: false,
    features: { subscription_cancel: { enabled: true, mode: "at_period_end" } },
  });
  const customer = await stripe.customers.create({});
  const session = await stripe.billingPortal.sessions.create({ customer: customer.id, configuration: made.id });
  expect(session.configuration).toBe(made.id);
  await stripe.billingPortal.configurations.update(made.id, { active: false });
  await expect(stripe.billingPortal.sessions.create({ customer: customer.id, configuration: made.id })).rejects.toThrow("not active");
  expect((await stripe.billingPortal.configurations.list({ active: true })).data).toEqual([]);
  await expect(
    stripe.billingPortal.configurations.create({ features: { ...features, subscription_pause: { enabled: true } } }),
  ).rejects.toThrow("does not play features[subscription_pause]");
  await expect(
    stripe.billingPortal.configurations.create({ features: { customer_update: { enabled: true, allowed_updates: ["email"] } } }),
  ).rejects.toThrow("plays features[customer_update][allowed_updates] only as address and tax_id");
});
