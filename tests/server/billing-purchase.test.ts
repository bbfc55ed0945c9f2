/** One purchase gives one subscription and one grant, however often and in whatever order its events arrive. */
import type Stripe from "stripe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plans } from "#domain/plans.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { full } from "#tests/support/full.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { deliver } from "../support/billing-world.ts";
import { seededRandom } from "../support/ledger-model.ts";
import { customerOf } from "../support/payers.ts";

let world: BillingWorld;
const check = "/api/functions/reliable-subscription-check";
const monthStart = new Date("2026-03-10T09:30:00Z");
const monthEnd = new Date("2026-04-10T09:30:00Z");
const afterRenewal = new Date("2026-04-10T10:30:00Z");

beforeAll(async () => {
  world = await startBillingWorld({}, monthStart);
});
afterAll(() => world.close());

async function grantsOf(person: Person) {
  return (await stateOf(world, person.userId)).grants;
}

/** The events that name this person's customer. */
async function eventsOf(events: readonly Stripe.Event[], person: Person): Promise<Stripe.Event[]> {
  const customer = await customerOf(world.database.db, person.userId);
  return events.filter((event) => (event.data.object as { customer?: string }).customer === customer);
}

describe("a purchase", () => {
  test("is an active subscription with its month of credits, pushed live and mailed once", async () => {
    const person = await world.person();
    expect((await world.post(check, person)).json()).toMatchObject({
      ...{ subscribed: false, subscription_tier: "none", plan_name: "No Plan", credits: 0, subscription_end: null },
      ...{ reason: "No active subscription", status: "none", billing_interval: null, next_credits_at: null },
    });
    world.pushed.length = 0;
    await world.buy(person, "starter_month");
    await world.settle();
    expect((await world.post(check, person)).json()).toEqual({
      ...{ subscribed: true, subscription_tier: "starter", plan_name: "Starter Plan", credits: 300, reason: null, status: "active" },
      ...{ next_credits_at: monthEnd.toISOString() },
      ...{ subscription_end: monthEnd.toISOString(), billing_interval: "month", cancel_at_period_end: false },
      ...{ can_start_trial: false, trial_end: null, plan_to_come: null },
      price_cents: plans.starter.monthlyPriceCents,
      answered: false,
      server_time: world.clock.now().toISOString(),
    });
    await expect
      .poll(() => world.pushed.filter((event) => event.userId === person.userId).map((event) => event.table))
      .toContain("user_subscriptions");
    const mails = await world.database.db.selectFrom("mails").select("template").where("user_id", "=", person.userId).execute();
    expect(mails).toEqual([{ template: "subscription-started" }]);
    expect((await world.post("/api/functions/create-checkout", person, { priceId: "basic_month" })).json()).toMatchObject({
      code: "already_subscribed",
      status: 409,
    });
  });

  test("whose events each arrive ten times at once is posted once", async () => {
    const person = await world.person();
    await world.buy(person, "professional_month");
    const events = await world.takeEvents();
    for (const event of events) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => deliver(world, JSON.stringify(event))));
      expect(responses.map((response) => response.statusCode)).toEqual(Array(10).fill(200));
    }
    const paid = events.find((event) => event.type === "invoice.paid");
    await Promise.all(Array.from({ length: 10 }, () => processStripeEvent(world.deps, paid?.id ?? "")));
    await Promise.all(events.flatMap((event) => [event, event]).map((event) => processStripeEvent(world.deps, event.id)));
    expect(await grantsOf(person)).toEqual([expect.objectContaining({ credits: 750, remaining: 750 })]);
  });

  test("whose invoice arrives under two event ids gives one grant", async () => {
    const person = await world.person();
    await world.buy(person, "basic_month");
    const events = await world.takeEvents();
    const twins = events.map((event) => ({ ...event, id: `${event.id}twin` }));
    await world.bring([...events, ...twins]);
    expect(await grantsOf(person)).toEqual([expect.objectContaining({ credits: 600, remaining: 600 })]);
  });

  test("described by a forged payload grants nothing, because the object is read from Stripe", async () => {
    const person = await world.person();
    await world.buy(person, "starter_month");
    const events = await world.takeEvents();
    const paid = events.find((event) => event.type === "invoice.paid");
    const inflated = JSON.parse(
      JSON.stringify(paid).replaceAll("1999", "99999900").replaceAll("starter_month", "enterprise_month"),
    ) as Stripe.Event;
    await world.bring([inflated, ...events]);
    expect(await grantsOf(person)).toEqual([expect.objectContaining({ credits: 300 })]);
  });

  test("of an unknown customer, or with an object Stripe does not have, is ignored", async () => {
    const customer = await world.deps.payments.customers.create({ email: "stranger@example.com" });
    const unknown = {
      object: "event",
      created: 1,
      livemode: false,
      type: "customer.subscription.updated",
      data: { object: { id: "sub_unknown" } },
    };
    await world.takeEvents();
    for (const [id, event] of [
      ["evt_nosub", unknown],
      ["evt_noinvoice", { ...unknown, type: "invoice.paid", data: { object: { id: "in_unknown" } } }],
      ["evt_nosession", { ...unknown, type: "checkout.session.completed", data: { object: { id: "cs_unknown", customer: customer.id } } }],
    ] as const) {
      await world.bring([{ ...event, id } as unknown as Stripe.Event]);
      const row = await world.database.db.selectFrom("stripe_events").select("status").where("id", "=", id).executeTakeFirst();
      expect(row?.status).not.toBe("received");
    }
  });
});

/** Every order of the events that matter, then of a renewal and a cancellation. */
describe("any order of events", () => {
  const telling = [
    "checkout.session.completed",
    "customer.subscription.created",
    "invoice.finalized",
    "invoice.paid",
    "invoice.payment_succeeded",
  ];

  function permutations<T>(items: readonly T[]): T[][] {
    if (items.length <= 1) return [[...items]];
    return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
  }

  test("of a purchase ends in the same state, then of its renewal (seeded)", { timeout: full ? 600_000 : 180_000 }, async () => {
    const all = permutations(telling);
    // All 120 orders in the full run, every twelfth otherwise.
    const orders = full ? all : all.filter((_order, index) => index % 12 === 0);
    const people = await Promise.all(orders.map(() => world.person()));
    for (const person of people) await world.buy(person, "starter_month");
    const bought = await world.takeEvents();
    const purchases = new Map<Person, Stripe.Event[]>();
    for (const [index, person] of people.entries()) {
      const own = (await eventsOf(bought, person)).filter((event) => telling.includes(event.type));
      expect(own.map((event) => event.type).sort()).toEqual([...telling].sort());
      purchases.set(person, own);
      // For half of the people the purchase's events arrive only after the renewal.
      const order = orders[index] ?? [];
      if (index % 2 === 0) await world.bring(order.flatMap((type) => own.filter((event) => event.type === type)));
    }
    const heard = people.filter((_person, index) => index % 2 === 0);
    const [first, ...others] = await Promise.all(heard.map((person) => stateOf(world, person.userId)));
    expect(first).toMatchObject({ wallet: { balance: 300 }, subscription: { status: "active", current_period_end: monthEnd } });
    for (const other of others) expect(other).toEqual(first);

    await world.moveTo(afterRenewal, { bringing: false });
    const renewed = await world.takeEvents();
    const random = seededRandom(7);
    for (const [index, person] of people.entries()) {
      const unheard = [...(index % 2 === 0 ? [] : (purchases.get(person) ?? [])), ...(await eventsOf(renewed, person))];
      const keyed = unheard.map((event) => ({ event, key: random(1_000_000) }));
      await world.bring(keyed.sort((left, right) => left.key - right.key).map(({ event }) => event));
    }
    const [renewal, ...rest] = await Promise.all(people.map((person) => stateOf(world, person.userId)));
    expect(renewal).toMatchObject({ wallet: { balance: 300 }, subscription: { status: "active", current_period_start: monthEnd } });
    expect(renewal?.grants.map((grant) => [grant.remaining, grant.expired_at])).toEqual([
      [0, true],
      [300, false],
    ]);
    for (const other of rest) expect(other).toEqual(renewal);
    expect(await findDisagreements(world.deps.db)).toEqual([]);
  });
});
