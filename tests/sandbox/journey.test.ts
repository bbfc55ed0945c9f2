/** The whole sandbox: a checkout is paid on its page, then a month passes. The product is a small server that records events. */

import type { Server } from "node:http";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import Stripe from "stripe";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMonths } from "#domain/clock.ts";
import { freePort } from "#server/embedded/processes.ts";
import type { RunningSandbox } from "#tests/support/sandbox.ts";
import { startSandbox } from "#tests/support/sandbox.ts";
import { read } from "#tests/support/sources.ts";
import { until } from "#tests/support/until.ts";

const token = "token-of-the-tests";
let sandbox: RunningSandbox;
let product: Server;
let stripe: Stripe;
let offsetMs = 0;
/** The number of webhooks the product is still processing; the sandbox must wait for them. */
let working = 0;
const received: { type: string; at: Date }[] = [];

function productState(): object {
  return { now: new Date(Date.now() + offsetMs).toISOString(), nextDueAt: null, pending: working };
}

beforeAll(async () => {
  product = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === "/api/stripe/webhook") {
        const event = stripe.webhooks.constructEvent(body, request.headers["stripe-signature"] ?? "", `whsec_${token}`);
        received.push({ type: event.type, at: new Date(event.created * 1000) });
        working += 1;
        setTimeout(() => {
          working -= 1;
        }, 10);
        return response.end();
      }
      if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
      if (request.method === "PUT")
        offsetMs = Math.max(offsetMs, new Date((JSON.parse(body) as { now: string }).now).getTime() - Date.now());
      return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(productState()));
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => product.listen(port, "127.0.0.1", resolve));
  sandbox = await startSandbox({ SANDBOX_TOKEN: token, PRODUCT_URL: `http://127.0.0.1:${port}` });
  const { hostname, port: sandboxPort } = new URL(sandbox.url);
  stripe = new Stripe("sk_test_sandbox", { host: hostname, port: Number(sandboxPort), protocol: "http", maxNetworkRetries: 0 });
});

afterAll(async () => {
  await sandbox.close();
  product.closeAllConnections();
  await new Promise((resolve) => product.close(resolve));
});

function postJson(address: string, body: object): Promise<Response> {
  return fetch(`${sandbox.url}${address}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    redirect: "manual",
  });
}

test("moving a month on delivers the renewal's events in order, each with its own time, and leaves the clock there", async () => {
  const plan = await stripe.products.create({ name: "Starter" });
  const price = await stripe.prices.create({ product: plan.id, currency: "usd", unit_amount: 1999, recurring: { interval: "month" } });
  const customer = await stripe.customers.create({ email: "ada@example.com" });
  const session = await stripe.checkout.sessions.create({
    mode: "subscription",
    customer: customer.id,
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: "http://127.0.0.1:3000/welcome",
  });
  const open = await (await fetch(`${sandbox.url}/`)).text();
  expect(open).toContain("$19.99");
  // People see that the pages belong to the product: they have its mark.
  const shapes = [...read("client/features/frame/mark.tsx").matchAll(/ d="([^"]+)"/g)].map(([, shape = ""]) => shape);
  expect(shapes).toHaveLength(2);
  const checkoutPage = await (await fetch(session.url ?? "")).text();
  for (const shape of shapes) for (const html of [open, checkoutPage]) expect(html).toContain(shape);
  const paid = await postJson(`/checkout/${session.id}/pay`, { card: "success" });
  expect(paid.status).toBe(303);
  expect(paid.headers.get("location")).toContain("/welcome");
  await until(
    () => received.some((event) => event.type === "invoice.paid") && sandbox.stripe?.pendingDeliveries() === 0,
    "all webhooks delivered",
  );

  received.length = 0;
  const before = sandbox.clock.now();
  const moved = await postJson("/clock", { advance: "P1M1D" });
  expect(moved.status).toBe(200);
  const { now } = (await moved.json()) as { now: string };
  expect(new Date(now).getTime()).toBeGreaterThanOrEqual(addMonths(before, 1).getTime() + 86_400_000);
  const types = received.map((event) => event.type);
  expect(types.indexOf("invoice.created")).toBeGreaterThanOrEqual(0);
  expect(types.indexOf("invoice.paid")).toBeGreaterThan(types.indexOf("invoice.created"));
  const created = received.find((event) => event.type === "invoice.created");
  const collected = received.find((event) => event.type === "invoice.paid");
  expect((collected?.at.getTime() ?? 0) - (created?.at.getTime() ?? 0)).toBeGreaterThanOrEqual(3_600_000);
  expect(await (await fetch(`${sandbox.url}/clock`)).json()).toEqual({ now: expect.stringMatching(/Z$/) });
  const page = await (await fetch(`${sandbox.url}/`)).text();
  expect(page).toContain("ada@example.com");
  expect(page).toContain("days ahead of the real time");
}, 60_000);

test("a lost event never arrives, a doubled one arrives twice, and the clock waits for a delayed one", async () => {
  received.length = 0;
  expect(await (await postJson("/stripe/fault", { fault: "lose", eventType: "customer.created", count: 1 })).json()).toMatchObject({
    faults: [{ kind: "lose" }],
  });
  await stripe.customers.create({ email: "lost@example.com" });
  await until(() => sandbox.stripe?.pendingDeliveries() === 0, "all webhooks delivered");
  expect(received).toEqual([]);
  await postJson("/stripe/fault", { fault: "double", eventType: "customer.created" });
  await stripe.customers.create({ email: "double@example.com" });
  await until(() => received.length === 2 && sandbox.stripe?.pendingDeliveries() === 0, "all webhooks delivered");
  await postJson("/stripe/fault", { fault: "delay", eventType: "customer.created", delayMs: 400 });
  await stripe.customers.create({ email: "late@example.com" });
  await postJson("/clock", { advance: "PT1H" });
  expect(received).toHaveLength(3);
  expect((await postJson("/stripe/fault", { fault: null })).status).toBe(200);
}, 30_000);

test.each(["P1X", "", "P6Y", "-P1M"])("POST /clock with %j is refused and does not move time", async (advance) => {
  const before = sandbox.clock.now().getTime();
  const refused = await postJson("/clock", { advance });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ code: "validation_failed", fields: [{ field: "advance" }] });
  expect(sandbox.clock.now().getTime() - before).toBeLessThan(10_000);
});
