/** Renewals, grace, cancellation and annual months as time passes, and what reconciliation repairs. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { endGracePeriods, postDueScheduledGrants } from "#server/features/billing/schedules.ts";
import { expireDueGrants, findDisagreements, postGrant } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { deliver } from "../support/billing-world.ts";
import { customerOf, payerIdOf } from "../support/payers.ts";

const start = new Date("2026-01-31T12:00:00Z");
let world: BillingWorld;

beforeEach(async () => {
  world = await startBillingWorld({}, start);
});
afterEach(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.close();
});

async function subscriber(priceId = "starter_month"): Promise<Person & { customer: string; subscription: string }> {
  const person = await world.person();
  await world.buy(person, priceId);
  await world.settle();
  const customer = await customerOf(world.database.db, person.userId);
  const row = await world.database.db
    .selectFrom("user_subscriptions")
    .select("stripe_subscription_id")
    .where("user_id", "=", person.userId)
    .executeTakeFirstOrThrow();
  return { ...person, customer, subscription: row.stripe_subscription_id };
}

async function useCard(person: { customer: string; subscription: string }, card: string): Promise<void> {
  const method = await world.deps.payments.paymentMethods.attach(card, { customer: person.customer });
  await world.deps.payments.subscriptions.update(person.subscription, { default_payment_method: method.id });
}

async function balance(person: Person): Promise<number> {
  return (await stateOf(world, person.userId)).wallet?.balance ?? 0;
}

describe("a renewal", () => {
  test("whose invoice is still a draft names the credits that are due now, and after it the next month's", async () => {
    const person = await subscriber();
    const check = async () => (await world.post("/api/functions/reliable-subscription-check", person)).json();
    const end = new Date((await check()).subscription_end);
    expect((await check()).next_credits_at).toBe(end.toISOString());
    const drafted = new Date(end.getTime() + 600_000);
    await world.moveTo(drafted);
    expect(await check()).toMatchObject({ status: "active", next_credits_at: drafted.toISOString() });
    await world.moveTo(new Date(end.getTime() + 7_200_000));
    const { next_credits_at: next, subscription_end: nextEnd } = await check();
    expect(next).toBe(nextEnd);
    expect(new Date(next).getTime()).toBeGreaterThan(end.getTime() + 27 * 86_400_000);
  });

  test("keeps the old month while its invoice is a draft, and replaces it once paid", async () => {
    const person = await subscriber();
    await world.moveTo(new Date("2026-02-28T12:30:00Z"));
    expect((await stateOf(world, person.userId)).subscription).toMatchObject({
      status: "active",
      current_period_start: new Date("2026-02-28T12:00:00Z"),
    });
    expect(await balance(person)).toBe(300);
    await world.moveTo(new Date("2026-02-28T13:30:00Z"));
    const state = await stateOf(world, person.userId);
    expect(state.grants.map((grant) => [grant.expires_at.toISOString(), grant.remaining, grant.expired_at])).toEqual([
      ["2026-03-01T12:00:00.000Z", 0, true],
      ["2026-04-01T12:00:00.000Z", 300, false],
    ]);
  });

  test("is one, and one month of an annual plan is one, when our clock is an hour off, before or behind, and summer time begins", async () => {
    const timeZone = process.env.TZ;
    process.env.TZ = "Europe/Berlin";
    try {
      expect(new Date("2026-03-29T03:30:00Z").getTimezoneOffset()).toBe(-120);
      const [monthly, annual] = [await subscriber(), await subscriber("starter_year")];
      await world.moveTo(new Date("2026-03-29T00:30:00Z"));
      for (const at of ["2026-03-29T01:30:00Z", "2026-03-31T11:30:00Z", "2026-03-31T12:30:00Z", "2026-03-31T13:30:00Z"]) {
        await world.moveTo(new Date(at), { bringing: false });
        const events = await world.takeEvents();
        for (const event of events) await deliver(world, JSON.stringify(event));
        for (const hours of [1, -1, 0]) {
          const clock = { ...world.deps.clock, now: () => addMilliseconds(world.clock.now(), hours * hourMs) };
          const deps = { ...world.deps, clock };
          for (const event of events) await processStripeEvent(deps, event.id);
          await reconcileBilling(deps);
          await postDueScheduledGrants(deps, clock.now());
          await endGracePeriods(deps, clock.now());
          await expireDueGrants(deps, clock.now());
        }
      }
      for (const person of [monthly, annual]) {
        const { grants, wallet, subscription } = await stateOf(world, person.userId);
        expect(grants.map(({ expires_at }) => expires_at.toISOString())).toEqual([
          ...["2026-03-01T12:00:00.000Z", "2026-04-01T12:00:00.000Z", "2026-05-01T12:00:00.000Z"],
        ]);
        expect([wallet?.balance, subscription.status]).toEqual([300, "active"]);
      }
      expect((await stateOf(world, monthly.userId)).invoices).toHaveLength(3);
      const renewed = world.database.db.selectFrom("mails").select("key").where("template", "=", "plan-renewed");
      expect(await renewed.where("user_id", "=", monthly.userId).execute()).toHaveLength(2);
    } finally {
      if (timeZone === undefined) delete process.env.TZ;
      else process.env.TZ = timeZone;
    }
  });

  test("that fails keeps access for seven days without new credits; paid within them, it gives exactly one grant", async () => {
    const person = await subscriber();
    await useCard(person, "pm_card_chargeCustomerFail");
    await world.moveTo(new Date("2026-02-28T14:00:00Z"));
    const state = await stateOf(world, person.userId);
    expect(state.subscription).toMatchObject({ status: "past_due", grace_until: new Date("2026-03-07T13:00:00Z") });
    expect(state.grants).toHaveLength(1);
    expect((await world.post("/api/functions/reliable-subscription-check", person)).json()).toMatchObject({
      subscribed: true,
      status: "past_due",
    });
    await useCard(person, "pm_card_visa");
    await world.moveTo(new Date("2026-03-04T12:00:00Z"));
    const paid = await stateOf(world, person.userId);
    expect(paid.subscription).toMatchObject({ status: "active", grace_until: null });
    expect([paid.grants.length, paid.wallet?.balance]).toEqual([2, 300]);
    const mails = await world.database.db
      .selectFrom("mails")
      .select(["template", "parameters"])
      .where("user_id", "=", person.userId)
      .execute();
    const [failed, recovered, started] = mails.sort((left, right) => left.template.localeCompare(right.template));
    expect(mails).toHaveLength(3);
    expect(recovered).toMatchObject({ template: "payment-recovered", parameters: { amountCents: 1999 } });
    expect(failed).toMatchObject({ template: "payment-failed", parameters: { amountCents: 1999 } });
    expect(started).toMatchObject({ template: "subscription-started", parameters: { interval: "month", priceCents: 1999 } });
  });

  test("that is never paid ends the subscription after the grace period, keeps packs and leaves nothing to pay", async () => {
    const person = await subscriber();
    const expiresAt = new Date("2027-01-31T12:00:00Z");
    const payerId = await payerIdOf(world.deps.db, person.userId);
    await inTransaction(world.deps.db, (trx) =>
      postGrant(trx, { payerId, kind: "pack", credits: 100, expiresAt, key: "pack:of-the-test" }, start),
    );
    await useCard(person, "pm_card_chargeCustomerFail");
    await world.moveTo(new Date("2026-03-07T13:00:01Z"));
    const state = await stateOf(world, person.userId);
    expect(state.subscription).toMatchObject({ status: "canceled", grace_until: null });
    expect(state.wallet?.balance).toBe(100);
    expect((await world.post("/api/functions/reliable-subscription-check", person)).json()).toMatchObject({
      subscribed: false,
      credits: 0,
      status: "canceled",
    });
    expect((await world.deps.payments.subscriptions.retrieve(person.subscription)).status).toBe("canceled");
  });

  test("the grace period ends after seven days even if Stripe would still try", async () => {
    const person = await subscriber();
    await useCard(person, "pm_card_chargeCustomerFail");
    await world.moveTo(new Date("2026-02-28T14:00:00Z"));
    const over = new Date("2026-03-07T13:00:00Z");
    // Our sweep runs before Stripe's last try at the same instant.
    world.clock.moveTo(over);
    expect(await endGracePeriods(world.deps, over)).toBe(1);
    expect((await stateOf(world, person.userId)).subscription).toMatchObject({ status: "canceled" });
    const open = await world.deps.payments.invoices.list({ subscription: person.subscription, status: "open" });
    expect(open.data).toEqual([]);
    expect(await endGracePeriods(world.deps, over)).toBe(0);
  });
});

test("a cancelled subscription ends at the end of its period, in any order of its events", async () => {
  const people = [await subscriber(), await subscriber()];
  for (const person of people) await world.deps.payments.subscriptions.update(person.subscription, { cancel_at_period_end: true });
  const announced = await world.takeEvents();
  await world.moveTo(new Date("2026-02-28T12:00:00Z"), { bringing: false });
  const ended = await world.takeEvents();
  const of = (events: typeof ended, person: { subscription: string }) =>
    events.filter((event) => (event.data.object as { id?: string }).id === person.subscription);
  const [first, second] = people;
  if (!first || !second) throw new Error("two people");
  await world.bring([...of(announced, first), ...of(ended, first)]);
  await world.bring([...of(ended, second), ...of(announced, second)]);
  const state = await stateOf(world, first.userId);
  expect(state.subscription).toMatchObject({ status: "canceled", ended_at: new Date("2026-02-28T12:00:00Z") });
  expect(await stateOf(world, second.userId)).toEqual(state);
});

test("a person who subscribes again starts anew, and a late event of the old subscription changes nothing", async () => {
  const person = await subscriber();
  await world.deps.payments.subscriptions.cancel(person.subscription);
  const late = await world.takeEvents();
  await world.bring(late);
  world.clock.moveTo(new Date("2026-02-10T12:00:00Z"));
  await world.buy(person, "basic_month");
  await world.settle();
  await world.bring(late.map((event) => ({ ...event, id: `${event.id}late` })));
  expect(await stateOf(world, person.userId)).toMatchObject({
    subscription: { plan_key: "basic", status: "active" },
    wallet: { balance: 600 },
  });
});

test("a discount is given once, to people who never paid, for their first period only", async () => {
  const now = world.clock.now();
  const campaign = { percent: 20, starts_at: now, ends_at: new Date("2027-01-01T00:00:00Z"), created_at: now };
  await world.database.db.insertInto("discount_campaigns").values(campaign).execute();
  const person = await world.person();
  await world.buy(person, "starter_month");
  await world.settle();
  const state = await stateOf(world, person.userId);
  expect([state.invoices.map((invoice) => invoice.amount_paid_cents), state.wallet?.balance]).toEqual([[1599], 300]);
  expect((await world.post("/api/functions/check-discount-eligibility", person)).json().discountEligible).toBe(false);
  await world.moveTo(new Date(world.clock.now().getTime() + 32 * 86_400_000));
  expect((await stateOf(world, person.userId)).invoices.map((invoice) => invoice.amount_paid_cents)).toEqual([1599, 1999]);
  await world.database.asOwner("delete from discount_campaigns");
});

describe("an annual plan", () => {
  test("started on 31 January grants twelve months on the right days, then renews once", { timeout: 60_000 }, async () => {
    const person = await subscriber("starter_year");
    await world.moveTo(new Date("2027-01-31T11:00:00Z"));
    const months = await world.database.db.selectFrom("grants").select(["source_key", "created_at"]).orderBy("created_at").execute();
    expect(months.map((month) => month.created_at.toISOString().slice(0, 10))).toEqual([
      ...["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31", "2026-06-30"],
      ...["2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31", "2026-11-30", "2026-12-31"],
    ]);
    expect(months.map((month) => month.source_key.split(":").at(-1))).toEqual(Array.from({ length: 12 }, (_, month) => String(month)));
    expect(months.every((month) => month.source_key.startsWith("month:"))).toBe(true);
    expect(await balance(person)).toBe(300);
    await world.moveTo(new Date("2027-02-01T12:00:00Z"));
    expect(await world.database.db.selectFrom("grants").select("id").execute()).toHaveLength(13);
    expect(await balance(person)).toBe(300);
  });

  test("after an outage of three days posts the missed month once", async () => {
    const person = await subscriber("starter_year");
    world.clock.moveTo(new Date("2026-03-03T12:00:00Z"));
    const now = world.clock.now();
    await expireDueGrants(world.deps, now);
    expect(await balance(person)).toBe(0);
    const counts = await Promise.all([postDueScheduledGrants(world.deps, now), postDueScheduledGrants(world.deps, now)]);
    expect(counts[0] + counts[1]).toBe(1);
    const grants = (await stateOf(world, person.userId)).grants;
    expect(grants.map((grant) => [grant.remaining, grant.expires_at.toISOString()])).toEqual([
      [0, "2026-03-01T12:00:00.000Z"],
      [300, "2026-04-01T12:00:00.000Z"],
    ]);
    const check = (await world.post("/api/functions/reliable-subscription-check", person)).json();
    expect([check.next_credits_at, check.subscription_end]).toEqual(["2026-03-31T12:00:00.000Z", "2027-01-31T12:00:00.000Z"]);
  });

  test("that ends early grants no further month", async () => {
    const person = await subscriber("starter_year");
    await world.moveTo(new Date("2026-03-15T12:00:00Z"));
    await world.deps.payments.subscriptions.cancel(person.subscription);
    await world.settle();
    await world.moveTo(new Date("2026-06-15T12:00:00Z"));
    expect((await stateOf(world, person.userId)).grants).toHaveLength(2);
    expect(await balance(person)).toBe(0);
  });
});

describe("reconciliation", () => {
  test("grants a purchase and a renewal without events, once", async () => {
    const person = await world.person();
    await world.buy(person);
    world.clock.moveTo(new Date(start.getTime() + 30 * 60_000));
    expect((await reconcileBilling(world.deps)).repaired).toBeGreaterThan(0);
    expect(await balance(person)).toBe(300);
    expect(await reconcileBilling(world.deps)).toEqual({ repaired: 0 });
    await world.moveTo(new Date("2026-02-28T13:00:00Z"), { bringing: false });
    world.clock.moveTo(new Date("2026-02-28T13:50:00Z"));
    await reconcileBilling(world.deps);
    const state = await stateOf(world, person.userId);
    expect([state.grants.length, state.wallet?.balance, state.subscription.status]).toEqual([2, 300, "active"]);
    await world.settle();
    expect(await stateOf(world, person.userId)).toEqual(state);
  });

  test("grants a paid invoice whose recorded events had no effect", async () => {
    const person = await world.person();
    await world.buy(person);
    const events = await world.takeEvents();
    for (const event of events) await deliver(world, JSON.stringify(event));
    await world.database.db.updateTable("stripe_events").set({ status: "ignored" }).execute();
    await reconcileBilling(world.deps);
    expect(await balance(person)).toBe(300);
  });

  test("an event whose processing dies three times after the commit takes effect once", async () => {
    const person = await world.person();
    await world.buy(person);
    const events = await world.takeEvents();
    const dying = { ...world.deps, live: { ...world.deps.live, publish: () => Promise.reject(new Error("died here")) } };
    for (const event of events) {
      await deliver(world, JSON.stringify(event));
      for (let attempt = 0; attempt < 3; attempt += 1) await processStripeEvent(dying, event.id).catch(() => {});
      await processStripeEvent(world.deps, event.id);
    }
    expect((await stateOf(world, person.userId)).grants).toHaveLength(1);
    const waiting = await world.database.db.selectFrom("stripe_events").select("id").where("status", "=", "received").execute();
    expect(waiting).toEqual([]);
  });
});
