/** Double clicks and tabs share one checkout; it is discounted once, and failures of Stripe don't block it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { buildApp } from "#server/app.ts";
import { processCheckout, processStripeEvent } from "#server/features/billing/process-event.ts";
import { settleCheckout } from "#server/features/billing/settle-checkout.ts";
import { ensureCatalogue } from "#server/features/billing/stripe-catalogue.ts";
import { createPayments } from "#server/providers/stripe.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import { deliver } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { startHttpProxy } from "../support/http-proxy.ts";
import { customerOf } from "../support/payers.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

const start = new Date("2026-03-10T09:30:00Z");
const path = "/api/functions/create-checkout";
let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld({}, start);
});
afterEach(() => world.endPlans());
afterAll(() => world.close());

async function subscriptionsOf(userId: string, status: "all" | "active" = "all") {
  const customer = await customerOf(world.database.db, userId);
  return (await world.deps.payments.subscriptions.list({ customer, status, limit: 100 })).data;
}

describe("bad input", () => {
  test.each(["", "starter", "starter_week", "starter_month_x", "STARTER_MONTH", "price_123", "__proto___month", "pack_100"])(
    "the unknown price %j is refused and nothing is written",
    async (priceId) => {
      const person = await world.person();
      expect((await world.post(path, person, { priceId })).json()).toMatchObject({ code: "unknown_price", status: 400 });
      expect(await world.database.db.selectFrom("checkouts").select("id").where("user_id", "=", person.userId).execute()).toEqual([]);
    },
  );

  test.each([{}, { priceId: 5 }, { priceId: "starter_month", percent: 90 }, { priceId: "x".repeat(101) }, { priceId: "a\u0000" }])(
    "the body %j is refused",
    async (body) => {
      expect((await world.post(path, await world.person(), body)).json()).toMatchObject({ code: "validation_failed", status: 400 });
    },
  );

  test.each([path, "/api/functions/reliable-subscription-check", "/api/billing/portal"])("%s needs a signed-in person", async (url) => {
    expect((await world.post(url, undefined, { priceId: "starter_month" })).json()).toMatchObject({ code: "unauthenticated", status: 401 });
  });

  test("the portal is refused to a person who never started a checkout", async () => {
    expect((await world.post("/api/billing/portal", await world.person())).json()).toMatchObject({ code: "subscription_required" });
  });
});

test("five processes that start at the same moment create the catalogue once", async () => {
  const deps = Array.from({ length: 5 }, () => ({ payments: createPayments(world.deps.config.stripe), config: world.deps.config }));
  const maps = await Promise.all(deps.map((each) => ensureCatalogue(each)));
  for (const map of maps) expect([...map]).toEqual([...(maps[0] ?? [])]);
  const prices = await world.deps.payments.prices.list({ limit: 100 });
  expect(prices.data.map((price) => [price.lookup_key, price.unit_amount]).sort()).toEqual([
    ["basic_month", 3999],
    ["basic_year", 38_390],
    ["enterprise_month", 9999],
    ["enterprise_year", 95_990],
    ["pack_100", 799],
    ["pack_1000", 5999],
    ["pack_250", 1799],
    ["pack_500", 3299],
    ["professional_month", 4999],
    ["professional_year", 47_990],
    ["starter_month", 1999],
    ["starter_year", 19_190],
  ]);
});

describe("one checkout", () => {
  test("is shared by a double click, a second tab and a later return", async () => {
    const person = await world.person();
    const clicks = await Promise.all(Array.from({ length: 5 }, () => world.checkout(person, "starter_month")));
    const later = await world.checkout(person, "starter_month");
    expect(new Set([...clicks, later].map((each) => each.url)).size).toBe(1);
    expect(later.status).toBe(200);
    const customers = await world.deps.payments.customers.list({ email: person.email });
    expect(customers.data).toHaveLength(1);
    await Promise.all([world.pay(later.url), world.pay(later.url)]);
    await world.settle();
    expect(await subscriptionsOf(person.userId)).toHaveLength(1);
    expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
    expect(await world.checkout(person, "starter_month")).toMatchObject({ status: 409, code: "already_subscribed" });
  });

  test("that was paid is not offered again even before its events arrive, because Stripe is asked", async () => {
    const person = await world.person();
    await world.buy(person, "starter_month");
    expect(await world.checkout(person, "starter_month")).toMatchObject({ status: 409, code: "already_subscribed" });
    await world.settle();
  });

  test("that was declined can be paid with another card", async () => {
    const person = await world.person();
    const { url } = await world.checkout(person, "starter_month");
    await world.pay(url, "declined");
    await world.settle();
    expect(await stateOf(world, person.userId)).toMatchObject({ subscription: { status: undefined }, wallet: { balance: 0 } });
    expect((await world.checkout(person, "starter_month")).url).toBe(url);
    await world.pay(url);
    await world.settle();
    expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
  });

  test("that expired is replaced by a new one", async () => {
    const person = await world.person();
    const { url } = await world.checkout(person, "starter_month");
    await world.moveTo(new Date(world.clock.now().getTime() + 25 * 3_600_000));
    const second = await world.checkout(person, "starter_month");
    expect([second.status, second.url === url]).toEqual([200, false]);
  });
});

describe("two tabs with different plans", () => {
  test("when one is paid, the other can't be paid", async () => {
    const person = await world.person();
    const first = await world.checkout(person, "starter_month");
    const second = await world.checkout(person, "basic_month");
    await world.pay(first.url);
    await world.settle();
    await expect(world.pay(second.url)).rejects.toThrow();
    expect(await subscriptionsOf(person.userId)).toHaveLength(1);
  });

  test.each([false, true])(
    "both paid at once: one subscription stays and the other is cancelled and refunded (events reversed: %j)",
    async (reversed) => {
      const person = await world.person();
      const first = await world.checkout(person, "starter_month");
      const second = await world.checkout(person, "basic_month");
      await world.pay(first.url);
      world.clock.moveTo(new Date(world.clock.now().getTime() + 2_000));
      await world.pay(second.url);
      const events = await world.takeEvents();
      await world.bring(reversed ? events.toReversed() : events);
      await world.settle();
      const [kept, ...more] = await subscriptionsOf(person.userId, "active");
      expect([kept?.items.data[0]?.price.lookup_key, more]).toEqual(["starter_month", []]);
      expect(await stateOf(world, person.userId)).toMatchObject({
        subscription: { plan_key: "starter", status: "active" },
        wallet: { balance: 300 },
      });
      const refunds = await world.deps.payments.refunds.list({ limit: 10 });
      expect(refunds.data.filter((refund) => refund.customer === kept?.customer).map((refund) => refund.amount)).toEqual([3999]);
    },
  );
});

describe("an outage of Stripe", () => {
  test("is reported as such, and the next try succeeds", async () => {
    const proxy = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(world.sandboxUrl).port) });
    const apiUrl = new URL(`http://127.0.0.1:${proxy.port}`);
    const app = await buildApp({ ...world.deps, payments: createPayments({ ...world.deps.config.stripe, apiUrl }) });
    const person = await world.person();
    const call = () =>
      app.inject({
        method: "POST",
        url: path,
        headers: person.headers,
        payload: { priceId: "starter_month", consent: consentTo("starter_month") },
      });
    try {
      await proxy.cut();
      expect((await call()).json()).toMatchObject({
        code: "payment_provider_unavailable",
        status: 502,
        error: expect.stringContaining("Nothing was charged"),
      });
      await proxy.mend();
      const [one, two] = [await call(), await call()];
      expect([one.statusCode, two.json().url]).toEqual([200, one.json().url]);
    } finally {
      await app.close();
      await proxy.cut();
    }
  });
});

describe("responses from Stripe", () => {
  test("that are lost after Stripe has acted are requested again with the same key: one session, one customer", async () => {
    const lost: string[] = [];
    const proxy = await startHttpProxy(world.sandboxUrl, ({ method, path: called }, answer) => {
      if (method !== "POST" || lost.includes(called)) return answer;
      lost.push(called);
      return undefined;
    });
    const app = await buildApp({ ...world.deps, payments: createPayments({ ...world.deps.config.stripe, apiUrl: proxy.url }) });
    const person = await world.person();
    try {
      await world.takeEvents();
      const response = await app.inject({
        method: "POST",
        url: path,
        headers: person.headers,
        payload: { priceId: "starter_month", consent: consentTo("starter_month") },
      });
      expect([response.statusCode, lost]).toEqual([200, expect.arrayContaining(["/v1/customers", "/v1/checkout/sessions"])]);
      const sessions = await world.deps.payments.checkout.sessions.list({ limit: 100 });
      const own = sessions.data.filter((session) => session.client_reference_id === person.userId);
      expect(own.map((session) => session.url)).toEqual([response.json().url]);
      expect((await world.deps.payments.customers.list({ email: person.email })).data).toHaveLength(1);
    } finally {
      await app.close();
      await proxy.close();
    }
  });

  test("that say completed but unpaid grant nothing; when it is paid later, there is one grant", async () => {
    let cleared = false;
    const pending = (answer: string) =>
      answer
        .replaceAll('"status":"paid"', '"status":"open"')
        .replaceAll('"payment_status":"paid"', '"payment_status":"unpaid"')
        .replaceAll(/"amount_paid":\d+/g, '"amount_paid":0');
    const proxy = await startHttpProxy(world.sandboxUrl, (_request, answer) => (cleared ? answer : pending(answer)));
    const slowBank = { ...world.deps, payments: createPayments({ ...world.deps.config.stripe, apiUrl: proxy.url }) };
    try {
      const person = await world.person();
      await world.takeEvents();
      await world.buy(person, "starter_month");
      const events = await world.takeEvents();
      const completed = events.filter(
        (event) => event.type === "checkout.session.completed" || event.type === "customer.subscription.created",
      );
      for (const event of completed) {
        await deliver(world, JSON.stringify(event));
        await processStripeEvent(slowBank, event.id);
      }
      expect(await stateOf(world, person.userId)).toMatchObject({ wallet: { balance: 0 }, grants: [], invoices: [] });
      cleared = true;
      const later = completed
        .slice(0, 1)
        .map((event) => ({ ...event, id: `${event.id}later`, type: "checkout.session.async_payment_succeeded" as const }));
      for (const event of [...later, ...events.filter((each) => each.type.startsWith("invoice."))]) {
        await deliver(world, JSON.stringify(event));
        await processStripeEvent(slowBank, event.id);
      }
      expect((await stateOf(world, person.userId)).grants).toEqual([expect.objectContaining({ credits: 300, remaining: 300 })]);
    } finally {
      await proxy.close();
    }
  });
});

describe("the return from the payment page", () => {
  const back = "/api/billing/checkout-return";
  const sessionOf = (url: string) => new URL(url).pathname.split("/").at(-1) ?? "";
  const jobsFor = (sessionId: string) =>
    world.database.db
      .selectFrom("outbox")
      .select("payload")
      .where("job", "=", "settle-checkout")
      .where("payload", "=", JSON.stringify({ sessionId }))
      .execute();

  test("queues one job per checkout, however often and from however many tabs it is called, and another once that is done", async () => {
    const person = await world.person();
    const sessionId = sessionOf((await world.checkout(person, "starter_month")).url);
    const ask = async () => (await world.post(back, person, { sessionId })).json();
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    for (const answer of answers) expect(answer).toEqual({ state: "waiting", packCredits: null });
    expect(await jobsFor(sessionId)).toHaveLength(1);
    await world.database.db.deleteFrom("outbox").where("job", "=", "settle-checkout").execute();
    await ask();
    expect(await jobsFor(sessionId)).toHaveLength(1);
  });

  test("repairs a payment whose events never came, once however often it is called, and notifies every open page", async () => {
    const person = await world.person();
    const { url } = await world.checkout(person, "starter_month");
    const sessionId = sessionOf(url);
    await world.pay(url);
    await world.takeEvents();
    world.pushed.length = 0;
    expect((await world.post(back, person, { sessionId })).json()).toEqual({ state: "waiting", packCredits: null });
    expect(await jobsFor(sessionId)).toHaveLength(1);
    await Promise.all([processCheckout(world.deps, sessionId), processCheckout(world.deps, sessionId)]);
    await expect
      .poll(() => world.pushed.filter(({ userId }) => userId === person.userId).map(({ table }) => table))
      .toEqual(expect.arrayContaining(["user_subscriptions", "wallets"]));
    expect((await world.post(back, person, { sessionId })).json()).toEqual({ state: "paid", packCredits: null });
    expect((await stateOf(world, person.userId)).grants).toEqual([expect.objectContaining({ credits: 300, remaining: 300 })]);
    expect(await jobsFor(sessionId)).toHaveLength(1);
  });

  test("waits for the new plan of somebody whose earlier one has ended, though the checkout is written before its subscription; once that has ended, nothing is left to wait for", async () => {
    const person = await world.person();
    await world.buy(person);
    await world.settle();
    await world.endPlans();
    await world.moveTo(addMilliseconds(world.clock.now(), dayMs));
    const { url } = await world.checkout(person, "starter_month");
    const sessionId = sessionOf(url);
    await world.pay(url);
    const ask = async () => (await world.post(back, person, { sessionId })).json<{ state: string }>().state;
    // Another process writes the subscription a moment later.
    await settleCheckout(world.deps, sessionId);
    expect(await ask()).toBe("waiting");
    await world.settle();
    expect(await ask()).toBe("paid");
    await world.endPlans();
    expect(await ask()).toBe("over");
  });

  test("reports an unpaid checkout as waiting, then as expired, and grants nothing", async () => {
    const person = await world.person();
    const sessionId = sessionOf((await world.checkout(person, "starter_month")).url);
    await processCheckout(world.deps, sessionId);
    expect((await world.post(back, person, { sessionId })).json()).toEqual({ state: "waiting", packCredits: null });
    await world.deps.payments.checkout.sessions.expire(sessionId);
    await processCheckout(world.deps, sessionId);
    expect((await world.post(back, person, { sessionId })).json()).toEqual({ state: "expired", packCredits: null });
    expect((await stateOf(world, person.userId)).grants).toEqual([]);
  });

  test("answers 404 for another person's session and for an unknown one, without asking Stripe", async () => {
    const person = await world.person();
    const sessionId = sessionOf((await world.checkout(person, "starter_month")).url);
    for (const [asker, asked] of [
      [await world.person(), sessionId],
      [person, "cs_unknown"],
    ] as const) {
      expect((await world.post(back, asker, { sessionId: asked })).json()).toMatchObject({ code: "not_found", status: 404 });
      expect(await jobsFor(asked)).toEqual([]);
    }
    expect((await world.post(back, undefined, { sessionId })).statusCode).toBe(401);
  });
});

test("the portal opens for a customer", async () => {
  const person = await world.person();
  await world.checkout(person, "starter_month");
  const response = await world.post("/api/billing/portal", person);
  expect([response.statusCode, URL.canParse(response.json().url)]).toEqual([200, true]);
});
