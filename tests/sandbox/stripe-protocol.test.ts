import Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Harness } from "./stripe/harness.ts";
import { createPlan, createSession, newStripe, Receiver, startSandbox, subscribe } from "./stripe/harness.ts";

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

async function refusal(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error;
    throw error;
  }
  throw new Error("the call was not refused");
}

describe("errors", () => {
  test("each have the SDK's own class, code and parameter", async () => {
    const { stripe } = harness;
    expect(await refusal(stripe.customers.retrieve("cus_nobody"))).toMatchObject({
      type: "StripeInvalidRequestError",
      code: "resource_missing",
      param: "id",
      statusCode: 404,
      message: "No such customer: 'cus_nobody'",
    });
    expect(
      await refusal(
        stripe.checkout.sessions.create({
          mode: "payment",
          line_items: [{ price: "price_none", quantity: 1 }],
          success_url: "http://x.test/",
        }),
      ),
    ).toMatchObject({ code: "resource_missing", param: "line_items[0][price]", statusCode: 400 });
    expect(await refusal(stripe.billingPortal.sessions.create({}))).toMatchObject({ code: "parameter_missing", param: "customer" });
    expect(await refusal(stripe.customers.create({ email: "a@b.c", ...{ colour: "red" } }))).toMatchObject({
      code: "parameter_unknown",
      param: "colour",
      message: "Received unknown parameter: colour",
    });
    expect(await refusal(stripe.customers.create({ email: "nobody" }))).toMatchObject({ code: "email_invalid" });
    expect(await refusal(stripe.customers.list({ limit: 101 }))).toMatchObject({ param: "limit" });
    expect(await refusal(stripe.rawRequest("GET", "/v1/unicorns"))).toMatchObject({ statusCode: 404 });
    const { requestId } = await refusal(stripe.customers.retrieve("cus_nobody"));
    expect(requestId).toMatch(/^req_/);
    expect((await stripe.customers.list()).data).toHaveLength(0);
  });

  test("refuse a missing key, a live key and another API version", async () => {
    const port = Number(new URL(harness.address).port);
    for (const key of ["sk_live_real", "nonsense"]) {
      expect(await refusal(newStripe(port, key).customers.list())).toMatchObject({ type: "StripeAuthenticationError", statusCode: 401 });
    }
    expect((await fetch(`${harness.address}/v1/customers`)).status).toBe(401);
    const headers = { authorization: "Bearer sk_test_sandbox", "stripe-version": "2020-08-27" };
    expect((await fetch(`${harness.address}/v1/customers`, { headers })).status).toBe(400);
  });

  test("refuse hostile forms, or make them harmless: prototypes, depth, conflicting names, size", async () => {
    const post = (body: string): Promise<Response> =>
      fetch(`${harness.address}/v1/customers`, {
        method: "POST",
        headers: { authorization: "Bearer sk_test_sandbox", "content-type": "application/x-www-form-urlencoded" },
        body,
      });
    const statuses = [];
    for (const body of [
      "__proto__[polluted]=1",
      "metadata[__proto__]=x",
      "a[b][c][d][e][f][g][h][i][j]=1",
      "metadata=1&metadata[a]=2",
      "[]=1",
      "metadata[a=1",
      `email=${"x".repeat(300_000)}`,
      Array.from({ length: 1001 }, (_, index) => `metadata[${index}]=1`).join("&"),
    ]) {
      statuses.push((await post(body)).status);
    }
    expect(statuses).toEqual([400, 200, 400, 400, 400, 400, 413, 400]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});

describe("idempotency", () => {
  test("the same key and parameters get the same response; other parameters get an error", async () => {
    const key = { idempotencyKey: "once" };
    const first = await harness.stripe.customers.create({ email: "a@example.com", metadata: { a: "1" } }, key);
    const second = await harness.stripe.customers.create({ email: "a@example.com", metadata: { a: "1" } }, key);
    expect(second.id).toBe(first.id);
    expect(second.lastResponse.headers["idempotent-replayed"]).toBe("true");
    expect(await refusal(harness.stripe.customers.create({ email: "b@example.com" }, key))).toMatchObject({
      type: "StripeIdempotencyError",
      statusCode: 400,
    });
    expect((await harness.stripe.customers.list()).data).toHaveLength(1);
  });

  test("twenty requests at once with one key take effect once; the others wait or are told that it is in progress", async () => {
    const calls = await Promise.allSettled(
      Array.from({ length: 20 }, () => harness.stripe.customers.create({ email: "a@example.com" }, { idempotencyKey: "race" })),
    );
    const ids = new Set(calls.filter((call) => call.status === "fulfilled").map((call) => call.value.id));
    const refused = calls.filter((call) => call.status === "rejected").map((call) => call.reason as Stripe.errors.StripeError);
    expect(ids.size).toBe(1);
    for (const error of refused) expect(error).toMatchObject({ statusCode: 409, code: "idempotency_key_in_use" });
    expect((await harness.stripe.customers.list()).data).toHaveLength(1);
  });

  test("a refused request leaves nothing behind, not even objects it had created before it failed", async () => {
    await refusal(
      harness.stripe.prices.create(
        { currency: "usd", unit_amount: 100, product_data: { name: "Ghost" }, ...{ unknown: "1" } },
        { idempotencyKey: "ghost" },
      ),
    );
    expect((await harness.stripe.products.list()).data).toHaveLength(0);
    expect((await harness.stripe.events.list()).data).toHaveLength(0);
    expect(
      (
        await harness.stripe.prices.create(
          { currency: "usd", unit_amount: 100, product_data: { name: "Real" } },
          { idempotencyKey: "ghost" },
        )
      ).unit_amount,
    ).toBe(100);
  });
});

describe("lists", () => {
  test("paging forwards and backwards agree, and auto-pagination returns every object once, newest first", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 25; index += 1) ids.unshift((await harness.stripe.customers.create({ email: `p${index}@example.com` })).id);
    const first = await harness.stripe.customers.list({ limit: 10 });
    expect([first.data.map((customer) => customer.id), first.has_more]).toEqual([ids.slice(0, 10), true]);
    const second = await harness.stripe.customers.list({ limit: 10, starting_after: String(ids[9]) });
    expect(second.data.map((customer) => customer.id)).toEqual(ids.slice(10, 20));
    const back = await harness.stripe.customers.list({ limit: 10, ending_before: String(ids[10]) });
    expect([back.data.map((customer) => customer.id), back.has_more]).toEqual([ids.slice(0, 10), false]);
    const all = await harness.stripe.customers.list({ limit: 7 }).autoPagingToArray({ limit: 100 });
    expect(all.map((customer) => customer.id)).toEqual(ids);
    expect((await harness.stripe.customers.list({ email: "p3@example.com" })).data).toHaveLength(1);
  });

  test("events can be filtered by type, by group and by time", async () => {
    await subscribe(harness);
    const types = (await harness.stripe.events.list({ types: ["invoice.paid", "customer.subscription.created"] })).data.map(
      (event) => event.type,
    );
    expect(types).toEqual(["invoice.paid", "customer.subscription.created"]);
    const now = Math.floor(harness.now().getTime() / 1000);
    expect((await harness.stripe.events.list({ created: { gt: now } })).data).toHaveLength(0);
    expect((await harness.stripe.events.list({ created: { gte: now }, limit: 100 })).data.length).toBeGreaterThan(10);
    const [event] = (await harness.stripe.events.list({ type: "checkout.session.completed" })).data;
    expect(await harness.stripe.events.retrieve(String(event?.id))).toMatchObject({
      data: { object: { status: "complete" } },
      api_version: "2026-10-28.endive",
    });
  });

  test("prices are found by lookup key, and a key moves to another price only on request", async () => {
    const { stripe } = harness;
    const old = await createPlan(stripe, "Starter", 1999);
    expect(
      await refusal(stripe.prices.create({ currency: "usd", unit_amount: 1, product: String(old.product), lookup_key: "starter_month" })),
    ).toMatchObject({ code: "resource_already_exists" });
    const next = await stripe.prices.create({
      currency: "usd",
      unit_amount: 2099,
      product: String(old.product),
      recurring: { interval: "month" },
      lookup_key: "starter_month",
      transfer_lookup_key: true,
    });
    const found = await stripe.prices.list({ lookup_keys: ["starter_month", "basic_month"], expand: ["data.product"] });
    expect(found.data).toMatchObject([{ id: next.id, product: { name: "Starter" } }]);
    expect(await stripe.prices.retrieve(old.id)).toMatchObject({ lookup_key: null });
  });

  test("expansion works four levels deep, and an unknown property is refused", async () => {
    const { session } = await subscribe(harness);
    const expanded = await harness.stripe.checkout.sessions.list({
      expand: ["data.subscription.latest_invoice.payments", "data.customer"],
    });
    expect(expanded.data[0]).toMatchObject({
      customer: { email: "ada@example.com" },
      subscription: { latest_invoice: { status: "paid", payments: { data: [{ status: "paid" }] } } },
    });
    expect(await refusal(harness.stripe.checkout.sessions.retrieve(session.id, { expand: ["moon"] }))).toMatchObject({ statusCode: 400 });
  });
});

describe("hosted pages", () => {
  test("escape what people typed and have a policy without inline scripts and styles", async () => {
    const price = await createPlan(harness.stripe, `<img src=x onerror=alert(1)>"'`, 1999);
    const session = await createSession(harness, price.id, { customer_email: "a@example.com" });
    const response = await fetch(String(session.url));
    const text = await response.text();
    expect(text).not.toContain("<img");
    expect(text).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(text).toContain("No card is real, no money moves.");
    const policy = String(response.headers.get("content-security-policy"));
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(text).not.toMatch(/<style|style="|<script(?! src=)| on[a-z]+="/);
    expect((await fetch(`${harness.address}/stripe/page.css`)).headers.get("content-type")).toContain("text/css");
    expect((await fetch(`${harness.address}/stripe/spectral.woff2`)).headers.get("content-type")).toBe("font/woff2");
    expect((await fetch(`${harness.address}/c/pay/cs_test_none`)).status).toBe(404);
  });
});
