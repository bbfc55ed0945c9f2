/** Setting up a Stripe account, and checking one: each thing that differs is found, corrected where that is possible, and only once. */
import { spawn } from "node:child_process";
import { afterAll, beforeEach, expect, test } from "vitest";
import { handledTypes, ruleOf } from "#server/features/billing/event-handlers.ts";
import { compareAccount } from "#server/features/billing/stripe-account.ts";
import { forgetCatalogue, stripePriceOf } from "#server/features/billing/stripe-catalogue.ts";
import { findPortal } from "#server/features/billing/stripe-portal.ts";
import { stripeVersion } from "#server/providers/stripe.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import { compileCache } from "../support/sources.ts";

const origin = "https://tessera.example";
const url = `${origin}/api/stripe/webhook`;
let world: BillingWorld | undefined;

beforeEach(async () => {
  await world?.close();
  world = await startBillingWorld();
});
afterAll(() => world?.close());

function stripe() {
  if (!world) throw new Error("no world");
  return world.deps.payments;
}
function deps() {
  if (!world) throw new Error("no world");
  return world.deps;
}
const differences = async () => (await compareAccount(stripe(), origin)).map(({ what }) => what);

async function setUp(): Promise<{ done: string[]; secrets: string[] }> {
  const done: string[] = [];
  const secrets: string[] = [];
  for (const { repair } of await compareAccount(stripe(), origin)) {
    const result = await repair?.();
    if (result) done.push(result.done);
    if (result?.secret) secrets.push(result.secret);
  }
  return { done, secrets };
}

const priceOf = async (key: string) => (await stripe().prices.list({ lookup_keys: [key] })).data[0];

test("an empty account is set up once: all prices, the portal, and an endpoint with every type we act on, whose secret is told once", async () => {
  expect(await differences()).toHaveLength(8 + 12 + 1 + 1);
  const { done, secrets } = await setUp();
  expect(done).toHaveLength(22);
  expect(secrets).toEqual([expect.stringMatching(/^whsec_/)]);
  expect(await setUp()).toEqual({ done: [], secrets: [] });
  const [endpoint] = (await stripe().webhookEndpoints.list()).data;
  expect(endpoint).toMatchObject({ url, api_version: stripeVersion, status: "enabled", enabled_events: handledTypes });
  for (const type of handledTypes) expect(ruleOf(type), type).toBeDefined();
  // The product sells by these prices and opens this portal, and makes none of its own.
  expect(await stripePriceOf(deps(), "starter_year")).toBe((await priceOf("starter_year"))?.id);
  const person = await world?.person();
  if (!world || !person) throw new Error("nobody");
  await world.buy(person, "starter_month");
  await world.settle();
  expect((await world.post("/api/billing/portal", person)).statusCode).toBe(200);
  const [configuration] = (await stripe().billingPortal.configurations.list()).data;
  const events = await stripe().events.list({ type: "billing_portal.session.created" });
  expect(events.data[0]?.data.object).toMatchObject({ configuration: configuration?.id });
  expect(await differences()).toEqual([]);
});

test("the portal's configuration applies from when it is made, without a restart", async () => {
  const person = await world?.person();
  if (!world || !person) throw new Error("nobody");
  await world.buy(person, "starter_month");
  await world.settle();
  const openedPortal = async () => {
    await world?.post("/api/billing/portal", person);
    const [event] = (await stripe().events.list({ type: "billing_portal.session.created" })).data;
    return event?.data.object;
  };
  expect(await openedPortal()).toMatchObject({ configuration: expect.any(String) });
  await setUp();
  const own = await findPortal(stripe());
  expect(await openedPortal()).toMatchObject({ configuration: own?.id });
});

test("a wrong price is replaced by a new one that takes its lookup key over, and is never changed", async () => {
  await setUp();
  const right = await priceOf("basic_month");
  const wrong = await stripe().prices.create({
    product: "tessera_basic",
    currency: "usd",
    unit_amount: 1,
    recurring: { interval: "month" },
    lookup_key: "basic_month",
    transfer_lookup_key: true,
  });
  expect(await differences()).toEqual([`the price basic_month (${wrong.id}) is not 39.99 usd a month`]);
  expect((await setUp()).done).toEqual([expect.stringContaining(`it replaces ${wrong.id}`)]);
  const now = await priceOf("basic_month");
  expect(now).toMatchObject({ unit_amount: 3999, active: true });
  expect([right?.id, wrong.id]).not.toContain(now?.id);
  expect(await stripe().prices.retrieve(wrong.id)).toMatchObject({ unit_amount: 1, active: true, lookup_key: null });
  expect(await differences()).toEqual([]);
});

test("prices and products that were switched off, renamed or lost are put right", async () => {
  await setUp();
  const price = await priceOf("pack_100");
  await stripe().prices.update(price?.id ?? "", { active: false });
  await stripe().products.update("tessera_starter", { active: false });
  await stripe().products.update("tessera_basic", { name: "Something else" });
  expect(await differences()).toEqual([
    "the product tessera_starter is not active",
    "the product tessera_basic has another name or other metadata",
    `the price pack_100 (${price?.id}) is not active`,
  ]);
  await setUp();
  expect(await differences()).toEqual([]);
  expect(await priceOf("pack_100")).toMatchObject({ id: price?.id, active: true });
  forgetCatalogue({ payments: stripe() });
  expect(await stripePriceOf(deps(), "pack_100")).toBe(price?.id);
});

test("an endpoint that is disabled, or does not send a type we act on, is corrected and keeps its secret", async () => {
  await setUp();
  const [endpoint] = (await stripe().webhookEndpoints.list()).data;
  const id = endpoint?.id ?? "";
  await stripe().webhookEndpoints.update(id, { disabled: true, enabled_events: ["invoice.paid"] });
  const [what, ...others] = await differences();
  expect(others).toEqual([]);
  expect(what).toContain(`the webhook endpoint ${id} is disabled`);
  expect(what).toContain("checkout.session.completed");
  expect(await setUp()).toEqual({ done: [`updated the webhook endpoint ${id}`], secrets: [] });
  expect(await differences()).toEqual([]);
});

test("an endpoint of another version stays until its successor's secret is in use, and is named until it is deleted", async () => {
  const old = await stripe().webhookEndpoints.create({ url, enabled_events: ["*"] });
  const { secrets } = await setUp();
  expect(secrets).toHaveLength(1);
  expect(await differences()).toEqual([expect.stringContaining(`the webhook endpoint ${old.id} sends events of version of the account`)]);
  await stripe().webhookEndpoints.del(old.id);
  expect(await differences()).toEqual([]);
});

test("a portal that was switched off or leads elsewhere is corrected", async () => {
  await setUp();
  const [{ id = "" } = {}] = (await stripe().billingPortal.configurations.list()).data;
  await stripe().billingPortal.configurations.update(id, { active: false, default_return_url: "https://elsewhere.example" });
  expect(await differences()).toEqual([`the portal's configuration ${id} differs`]);
  await setUp();
  expect(await differences()).toEqual([]);
});

async function command(name: string, variables: NodeJS.ProcessEnv): Promise<{ code: number | null; said: string }> {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...variables };
  const child = spawn(process.execPath, ["server/commands/stripe.ts", name], { env });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, said };
}

test("the commands say what they did and what the API does not show, and end with 1 as long as something differs", async () => {
  const account = { STRIPE_SECRET_KEY: "sk_test_sandbox", STRIPE_API_URL: world?.sandboxUrl, PUBLIC_URL: origin };
  const before = await command("check", account);
  expect(before.code).toBe(1);
  expect(before.said).toContain("there is no webhook endpoint");
  const setup = await command("setup", account);
  expect(setup.code, setup.said).toBe(0);
  expect(setup.said.match(/STRIPE_WEBHOOK_SECRET=whsec_\w+/g)).toHaveLength(1);
  const after = await command("check", account);
  expect(after.code, after.said).toBe(0);
  expect(after.said).toContain("nothing differs");
  expect(after.said).toContain("retries within one week");
  expect((await command("setup", account)).said).not.toContain("whsec_");
  expect(await command("check", { STRIPE_SECRET_KEY: "sk_live_x", PUBLIC_URL: "http://tessera.example" })).toMatchObject({
    code: 1,
    said: expect.stringContaining("https"),
  });
  expect((await command("check", {})).said).toContain("STRIPE_SECRET_KEY is missing");
});
