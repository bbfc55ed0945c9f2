/** Stripe is asked outside of any transaction, and what it answered is written only if nothing newer was. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTransaction } from "#server/db/transaction.ts";
import { processCheckout, processStripeEvent } from "#server/features/billing/process-event.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { createPayments } from "#server/providers/stripe.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import { deliver } from "../support/billing-world.ts";
import type { HttpProxy } from "../support/http-proxy.ts";
import { startHttpProxy } from "../support/http-proxy.ts";
import { customerOf } from "../support/payers.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.close());

const through = (proxy: HttpProxy) => ({
  ...world.deps,
  payments: createPayments({ ...world.deps.config.stripe, apiUrl: proxy.url }),
});

/** The product's open transactions and used connections. The test's own connections have another name. */
async function inHand(): Promise<{ openTransactions: number; connectionsInUse: number }> {
  const { totalCount, idleCount } = world.deps.pool;
  const { rows } = await world.database.pool.query<{ open: number }>(
    `select count(*)::integer as open from pg_stat_activity
       where datname = current_database() and usename = current_user and xact_start is not null and pid <> pg_backend_pid()`,
  );
  return { openTransactions: rows[0]?.open ?? -1, connectionsInUse: totalCount - idleCount };
}

/**
 * What is still open after a while. The call is not answered before that, so what it holds itself stays open, while a notification that is
 * being sent beside it ends.
 */
async function stillInHand(): Promise<Awaited<ReturnType<typeof inHand>>> {
  const deadline = performance.now() + 2_000;
  for (;;) {
    const held = await inHand();
    if (held.openTransactions + held.connectionsInUse === 0 || performance.now() > deadline) return held;
    await delay(10);
  }
}

test("while Stripe is asked for whatever it is, no transaction is open and no connection is held", async () => {
  const asked = new Map<string, Awaited<ReturnType<typeof inHand>>>();
  const proxy = await startHttpProxy(world.sandboxUrl, async ({ method, path }, answer) => {
    asked.set(`${method} ${path.replace(/\/[a-z]{2,4}_\w+/g, "/…")}`, await stillInHand());
    return answer;
  });
  const deps = through(proxy);
  try {
    const person = await world.person();
    // Two plans paid in two tabs: one of them is ended and refunded.
    const urls = [await world.checkout(person, "starter_month"), await world.checkout(person, "basic_month")].map(({ url }) => url);
    for (const url of urls) await world.pay(url);
    for (const event of await world.takeEvents()) {
      await deliver(world, JSON.stringify(event));
      await processStripeEvent(deps, event.id);
    }
    await processCheckout(deps, new URL(urls[0] ?? "").pathname.split("/").at(-1) ?? "");
    await reconcileBilling(deps);
    expect([...asked.keys()]).toEqual(
      expect.arrayContaining([
        "GET /v1/checkout/sessions/…",
        "GET /v1/subscriptions/…",
        "GET /v1/subscriptions",
        "GET /v1/invoices/…",
        "GET /v1/invoices",
        "POST /v1/subscriptions/…",
        "DELETE /v1/subscriptions/…",
        "POST /v1/refunds",
      ]),
    );
    for (const [call, held] of asked) expect(held, call).toEqual({ openTransactions: 0, connectionsInUse: 0 });
    expect(await stateOf(world, person.userId)).toMatchObject({ subscription: { status: "active" } });
  } finally {
    await proxy.close();
  }
});

test("within a transaction Stripe can't be called: the call fails before anything is sent", async () => {
  let requests = 0;
  const proxy = await startHttpProxy(world.sandboxUrl, (_request, answer) => {
    requests += 1;
    return answer;
  });
  const { payments, db } = through(proxy);
  try {
    await expect(inTransaction(db, () => payments.events.list({ limit: 1 }))).rejects.toThrow("within a transaction");
    expect(requests).toBe(0);
    await payments.events.list({ limit: 1 });
    expect(requests).toBe(1);
  } finally {
    await proxy.close();
  }
});

describe("of two readings of one object that overlap, the newer one stays", () => {
  /** Holds Stripe's first answer for a path back until `release`. */
  async function holdBack(path: string) {
    const released = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let calls = 0;
    const proxy = await startHttpProxy(world.sandboxUrl, async (request, answer) => {
      if (request.path !== path) return answer;
      calls += 1;
      if (calls > 1) return answer;
      reached.resolve();
      await released.promise;
      return answer;
    });
    return { proxy, release: () => released.resolve(), reached: reached.promise, calls: () => calls };
  }

  async function expectNewerKept(): Promise<void> {
    const person = await world.person();
    await world.buy(person);
    await world.settle();
    const { stripe_subscription_id: subscription } = await world.database.db
      .selectFrom("user_subscriptions")
      .select("stripe_subscription_id")
      .where("user_id", "=", person.userId)
      .executeTakeFirstOrThrow();
    const held = await holdBack(`/v1/subscriptions/${subscription}`);
    try {
      await world.deps.payments.subscriptions.update(subscription, { cancel_at_period_end: true });
      const [before] = (await world.takeEvents()).filter((event) => event.type === "customer.subscription.updated");
      await deliver(world, JSON.stringify(before));
      // Stripe has answered "active", and the answer is on its way while everything after it happens.
      const older = processStripeEvent(through(held.proxy), before?.id ?? "");
      await held.reached;
      await world.deps.payments.subscriptions.cancel(subscription);
      await world.settle();
      expect((await stateOf(world, person.userId)).subscription.status).toBe("canceled");
      held.release();
      await older;
      expect((await stateOf(world, person.userId)).subscription.status).toBe("canceled");
    } finally {
      held.release();
      await held.proxy.close();
    }
  }

  test("of a subscription", expectNewerKept);

  test("which is noticed: a planted bug forgets the version that the older reading would be compared with", async () => {
    await world.database.asOwner(
      `create function forget_version() returns trigger language plpgsql security definer as $$ begin
         delete from stripe_objects where id = new.id;
         return new;
       end $$`,
      "create trigger forget_version before insert on stripe_objects for each row execute function forget_version()",
    );
    try {
      await expect(expectNewerKept()).rejects.toMatchObject({ name: "AssertionError" });
    } finally {
      await world.database.asOwner("drop function forget_version cascade");
    }
  });

  test("of a checkout", async () => {
    const person = await world.person();
    const { url } = await world.checkout(person, "starter_month");
    const sessionId = new URL(url).pathname.split("/").at(-1) ?? "";
    const held = await holdBack(`/v1/checkout/sessions/${sessionId}`);
    try {
      const older = processCheckout(through(held.proxy), sessionId);
      await held.reached;
      await world.pay(url);
      await world.settle();
      held.release();
      await older;
      const checkout = await world.database.db
        .selectFrom("checkouts")
        .select("status")
        .where("stripe_session_id", "=", sessionId)
        .executeTakeFirst();
      expect(checkout?.status).toBe("completed");
    } finally {
      held.release();
      await held.proxy.close();
    }
  });
});

test("two subscriptions of one person that are read at the same moment are not both kept, nor both ended", async () => {
  for (const reversed of [false, true]) {
    const person = await world.person();
    const urls = [await world.checkout(person, "starter_month"), await world.checkout(person, "basic_month")].map(({ url }) => url);
    for (const url of urls) await world.pay(url);
    const events = await world.takeEvents();
    const told = events.filter((event) => event.type === "customer.subscription.created");
    for (const event of reversed ? told.toReversed() : told) await deliver(world, JSON.stringify(event));
    await Promise.all((reversed ? told.toReversed() : told).map((event) => processStripeEvent(world.deps, event.id)));
    await world.bring(events);
    const { data } = await world.deps.payments.subscriptions.list({ limit: 100, status: "all" });
    const customer = await customerOf(world.database.db, person.userId);
    const statuses = data.filter((subscription) => subscription.customer === customer).map(({ status }) => status);
    expect(statuses.sort()).toEqual(["active", "canceled"]);
    expect((await stateOf(world, person.userId)).grants).toHaveLength(1);
  }
});

test("a duplicate whose end was interrupted at Stripe is ended and refunded by the next try, once", async () => {
  const person = await world.person();
  const urls = [await world.checkout(person, "starter_month"), await world.checkout(person, "basic_month")].map(({ url }) => url);
  for (const url of urls) await world.pay(url);
  const events = await world.takeEvents();
  const created = events.filter((event) => event.type === "customer.subscription.created").map(({ id }) => id);
  for (const event of events) await deliver(world, JSON.stringify(event));
  // Each time Stripe does one thing more, and its answer is lost.
  for (const lost of ["POST /v1/subscriptions/", "DELETE /v1/subscriptions/", "POST /v1/refunds"]) {
    const proxy = await startHttpProxy(world.sandboxUrl, ({ method, path }, answer) =>
      `${method} ${path}`.startsWith(lost) ? undefined : answer,
    );
    for (const id of created) await processStripeEvent(through(proxy), id).catch(() => {});
    await proxy.close();
    const waiting = await world.database.db
      .selectFrom("stripe_events")
      .select("id")
      .where("id", "in", created)
      .where("status", "=", "received")
      .execute();
    expect(waiting, lost).toHaveLength(1);
  }
  for (const event of events) await processStripeEvent(world.deps, event.id);
  const { data: refunds } = await world.deps.payments.refunds.list({ limit: 10 });
  const { data: subscriptions } = await world.deps.payments.subscriptions.list({ limit: 2, status: "all" });
  expect(refunds.filter((refund) => subscriptions.some(({ customer }) => customer === refund.customer))).toHaveLength(1);
  expect(subscriptions.map(({ status }) => status).sort()).toEqual(["active", "canceled"]);
  expect((await stateOf(world, person.userId)).grants).toHaveLength(1);
});
