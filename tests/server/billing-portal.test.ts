/** A cancellation in Stripe's portal has two shapes, by the subscription's billing mode: a flag with a date, or the date alone. */
import type Stripe from "stripe";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { addMilliseconds } from "#domain/clock.ts";
import { deletionMs } from "#domain/periods.ts";
import { alignSubscription } from "#server/features/billing/leaving.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { customerOf } from "../support/payers.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterEach(() => world.endPlans());
afterAll(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.close();
});

/** Buys a plan as the product does; with `classic`, as a subscription from before flexible billing was Stripe's default. */
async function subscriber(type: "classic" | "flexible"): Promise<{ person: Person; customer: string; id: string }> {
  const person = await world.person();
  const { payments } = world.deps;
  const opened = await world.checkout(person, "starter_month");
  const customer = await customerOf(world.database.db, person.userId);
  if (type === "flexible") await world.pay(opened.url);
  else {
    const [own] = (await payments.checkout.sessions.list({ customer })).data;
    const [line] = (await payments.checkout.sessions.listLineItems(String(own?.id))).data;
    const session = await payments.checkout.sessions.create({
      mode: "subscription",
      customer,
      line_items: [{ price: String(line?.price?.id), quantity: 1 }],
      success_url: "http://127.0.0.1:3000/profile",
      subscription_data: { billing_mode: { type } },
    });
    await world.pay(String(session.url));
  }
  await world.settle();
  const { stripe_subscription_id: id } = await world.database.db
    .selectFrom("user_subscriptions")
    .select("stripe_subscription_id")
    .where("user_id", "=", person.userId)
    .executeTakeFirstOrThrow();
  return { person, customer, id };
}

async function inPortal(person: Person, action: "cancel" | "resume", target: string): Promise<void> {
  const { url } = (await world.post("/api/billing/portal", person)).json();
  const response = await fetch(`${url}/${action}`, { method: "POST", redirect: "manual", body: new URLSearchParams({ target }) });
  expect(response.status).toBe(303);
}

const check = async (person: Person) => (await world.post("/api/functions/reliable-subscription-check", person)).json();
const atStripe = (id: string): Promise<Stripe.Subscription> => world.deps.payments.subscriptions.retrieve(id);

test.each(["flexible", "classic"] as const)(
  "cancelled in the portal (%s): the page says until when; resumed, it renews; cancelled again, it ends then",
  async (type) => {
    const { person, id } = await subscriber(type);
    const until = (await stateOf(world, person.userId)).subscription.current_period_end;
    await inPortal(person, "cancel", id);
    expect(await atStripe(id)).toMatchObject({ cancel_at_period_end: type === "classic", cancel_at: Number(until) / 1000 });
    await world.settle();
    expect(await check(person)).toMatchObject({
      subscribed: true,
      cancel_at_period_end: true,
      subscription_end: until?.toISOString(),
      next_credits_at: null,
    });
    await inPortal(person, "resume", id);
    await world.settle();
    expect(await check(person)).toMatchObject({ cancel_at_period_end: false, next_credits_at: until?.toISOString() });
    await world.moveTo(addMilliseconds(until ?? world.clock.now(), 2 * 3_600_000));
    const renewed = await stateOf(world, person.userId);
    expect([renewed.subscription.status, renewed.invoices.length, renewed.wallet?.balance]).toEqual(["active", 2, 300]);
    await inPortal(person, "cancel", id);
    await world.settle();
    await world.moveTo(renewed.subscription.current_period_end ?? world.clock.now());
    expect((await stateOf(world, person.userId)).subscription).toMatchObject({
      status: "canceled",
      ended_at: renewed.subscription.current_period_end,
    });
    expect(await check(person)).toMatchObject({ subscribed: false, credits: 0 });
  },
);

test("who deletes the account, takes the cancellation back in the portal and cancels there stays cancelled with the account restored", async () => {
  const { person, id } = await subscriber("flexible");
  const leave = (at: Date | null) =>
    world.database.db.updateTable("users").set({ delete_at: at }).where("id", "=", person.userId).execute();
  await leave(addMilliseconds(world.clock.now(), deletionMs));
  await alignSubscription(world.deps, person.userId);
  expect(await atStripe(id)).toMatchObject({ cancel_at_period_end: true });
  const portal = await world.deps.payments.billingPortal.sessions.create({ customer: await customerOf(world.database.db, person.userId) });
  for (const action of ["resume", "cancel"])
    await fetch(`${portal.url}/${action}`, { method: "POST", redirect: "manual", body: new URLSearchParams({ target: id }) });
  await leave(null);
  await alignSubscription(world.deps, person.userId);
  expect(await atStripe(id)).toMatchObject({ cancel_at: expect.any(Number), metadata: {} });
});
