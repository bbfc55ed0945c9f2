import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "#tests/support/until.ts";
import type { Harness } from "./stripe/harness.ts";
import { createPlan, createSession, newStripe, pay, Receiver, startSandbox, subscribe, webhookSecret } from "./stripe/harness.ts";

let harness: Harness | undefined;
let receiver: Receiver;
let folder: string;

beforeEach(() => {
  receiver = new Receiver();
  folder = mkdtempSync(join(tmpdir(), "stripe-sandbox-"));
});

afterEach(async () => {
  await harness?.close();
  await receiver.close();
  rmSync(folder, { recursive: true });
});

async function drained(running: Harness): Promise<void> {
  await until(() => running.sandbox.pendingDeliveries() === 0, "all webhooks delivered");
}

describe("webhooks", () => {
  test("are signed with wall time; the event's own time is business time", async () => {
    harness = await startSandbox({ webhookPort: await receiver.listen(), now: new Date("2031-05-05T05:05:05Z") });
    await harness.stripe.customers.create({ email: "a@example.com" });
    await drained(harness);
    const [got] = receiver.received;
    if (!got) throw new Error("nothing arrived");
    expect(Math.abs(Number(/t=(\d+)/.exec(got.signature)?.[1]) - Date.now() / 1000)).toBeLessThan(30);
    expect(got.event.created).toBe(Date.parse("2031-05-05T05:05:05Z") / 1000);
    expect(() => Stripe.webhooks.constructEvent(`${got.body} `, got.signature, webhookSecret)).toThrow();
    expect(() => Stripe.webhooks.constructEvent(got.body, got.signature, "whsec_other")).toThrow();
  });

  test("wait for a receiver that is down and then each arrive once", async () => {
    const port = await receiver.listen();
    await receiver.close();
    receiver = new Receiver();
    harness = await startSandbox({ webhookPort: port });
    await subscribe(harness);
    const queued = harness.sandbox.pendingDeliveries();
    expect(queued).toBeGreaterThan(10);
    await receiver.listen(port);
    await drained(harness);
    const listed = await harness.stripe.events.list({ limit: 100 });
    expect(receiver.received.map((item) => item.event.id).sort()).toEqual(listed.data.map((event) => event.id).sort());
    expect(listed.data.every((event) => event.pending_webhooks === 0)).toBe(true);
  });

  test("are retried when refused; one that is always refused delays no other", async () => {
    harness = await startSandbox({ webhookPort: await receiver.listen() });
    let refusals = 2;
    receiver.answer = (event) => {
      if (event.type === "product.created") return 400;
      refusals -= 1;
      return refusals >= 0 ? 500 : 200;
    };
    await subscribe(harness);
    const running = harness;
    await until(() => running.sandbox.pendingDeliveries() === 1, "all but the refused one delivered");
    expect(receiver.types()).toContain("checkout.session.completed");
    expect(receiver.types()).not.toContain("product.created");
    receiver.answer = () => 200;
    await harness.sandbox.flushDeliveries();
    expect(receiver.types().at(-1)).toBe("product.created");
    expect(harness.sandbox.pendingDeliveries()).toBe(0);
  });

  test("are on their way side by side: a slow answer to one lets the others pass", async () => {
    harness = await startSandbox({ webhookPort: await receiver.listen() });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let slow: string | undefined;
    receiver.wait = (event) => {
      slow ??= event.id;
      return event.id === slow ? held : Promise.resolve();
    };
    const ids = () => receiver.received.map(({ event }) => event.id);
    await subscribe(harness);
    const running = harness;
    await until(() => running.sandbox.pendingDeliveries() === 1, "all but the held one delivered");
    expect(ids()).not.toContain(slow);
    release();
    await drained(harness);
    expect(ids().at(-1)).toBe(slow);
  });

  test("can be delayed, doubled, reordered and lost on purpose; a lost one is still in the list of events", async () => {
    harness = await startSandbox({ webhookPort: await receiver.listen() });
    harness.sandbox.setEventFaults([
      { kind: "double", eventType: "invoice.paid" },
      { kind: "lose", eventType: "customer.subscription.created" },
      { kind: "reorder", eventType: "invoice.created" },
      { kind: "delay", eventType: "invoice.finalized", delayMs: 100 },
    ]);
    const { subscription } = await subscribe(harness);
    await drained(harness);
    const types = receiver.types();
    expect(types.filter((type) => type === "invoice.paid")).toHaveLength(2);
    expect(types).not.toContain("customer.subscription.created");
    expect(types.indexOf("invoice.created")).toBeGreaterThan(types.indexOf("checkout.session.completed"));
    expect(types.filter((type) => type === "invoice.finalized")).toHaveLength(1);
    const [lost] = (await harness.stripe.events.list({ type: "customer.subscription.created" })).data;
    expect(lost?.data.object).toMatchObject({ id: subscription.id });
  });
});

test("state, due work and undelivered webhooks survive a restart", async () => {
  const databasePath = join(folder, "stripe.db");
  const port = await receiver.listen();
  receiver.answer = () => 503;
  const first = await startSandbox({ databasePath, webhookPort: port });
  const { subscription, session } = await subscribe(first);
  const queued = first.sandbox.pendingDeliveries();
  await first.close();
  receiver.answer = () => 200;
  harness = await startSandbox({ databasePath, webhookPort: port });
  // The announcement of the renewal.
  expect(harness.sandbox.nextDueAt()).toEqual(new Date("2026-02-21T10:00:00Z"));
  await drained(harness);
  // At least once: what was on its way during the restart may come again.
  expect(new Set(receiver.received.map((item) => item.event.id)).size).toBe(queued);
  expect((await pay(harness, session.id, "success")).status).toBe(303);
  await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
  expect((await harness.stripe.invoices.list({ subscription: subscription.id })).data.map((invoice) => invoice.status)).toEqual([
    "paid",
    "paid",
  ]);
});

test("after kill -9 during payments each payment is either complete or not made, and every event is delivered after the restart", {
  timeout: 60_000,
}, async () => {
  const databasePath = join(folder, "stripe.db");
  const port = await receiver.listen();
  for (let round = 0; round < 4; round += 1) {
    const child = spawn(process.execPath, [join(import.meta.dirname, "stripe/child.ts"), databasePath, String(port)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    await payUntilKilled(Number(line.toString()), child, round * 7);
  }
  harness = await startSandbox({ databasePath, webhookPort: port });
  await drained(harness);
  const sessions = await harness.stripe.checkout.sessions.list({ limit: 100, expand: ["data.subscription.latest_invoice"] });
  const complete = sessions.data.filter((session) => session.status === "complete");
  for (const session of complete)
    expect(session).toMatchObject({ payment_status: "paid", subscription: { status: "active", latest_invoice: { status: "paid" } } });
  for (const session of sessions.data.filter((candidate) => candidate.status === "open")) expect(session.subscription).toBeNull();
  expect((await harness.stripe.subscriptions.list({ status: "all", limit: 100 })).data).toHaveLength(complete.length);
  expect((await harness.stripe.charges.list({ limit: 100 })).data).toHaveLength(complete.length);
  const arrived = new Set(receiver.received.map((item) => item.event.id));
  const listed = await harness.stripe.events.list({ limit: 100 }).autoPagingToArray({ limit: 5000 });
  expect(listed.filter((event) => !arrived.has(event.id))).toEqual([]);
});

async function payUntilKilled(port: number, child: ChildProcess, delayMs: number): Promise<void> {
  const address = `http://127.0.0.1:${port}`;
  const target = { address, stripe: newStripe(port) };
  const price = await createPlan(target.stripe, "Starter", 1999);
  const sessions = await Promise.all(
    Array.from({ length: 8 }, (_, index) => createSession(target, price.id, { customer_email: `p${index}@example.com` })),
  );
  const payments = sessions.map((session) => pay(target, session.id, "success").catch(() => undefined));
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  child.kill("SIGKILL");
  await Promise.all([once(child, "exit"), ...payments]);
}
