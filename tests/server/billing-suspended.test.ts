/** A subscription that is there at Stripe and gives no access: what its payer is told, and the ways out of it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import { fromStripeStatus } from "#domain/subscription.ts";
import { endGracePeriods } from "#server/features/billing/schedules.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf, unknownStatus } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { customerOf } from "../support/payers.ts";
import { mailsTo, subscribe } from "../support/returns.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterEach(async () => {
  expect(await findDisagreements(world.database.db)).toEqual([]);
  await world.endPlans();
});
afterAll(() => world.close());

const check = async (person: Person) => (await world.post("/api/functions/reliable-subscription-check", person)).json<SubscriptionCheck>();

async function subscriptionOf({ userId }: Person): Promise<string> {
  const row = world.database.db.selectFrom("user_subscriptions").select("stripe_subscription_id").where("user_id", "=", userId);
  return (await row.executeTakeFirstOrThrow()).stripe_subscription_id;
}

async function suspended(status: string): Promise<Person> {
  const person = await subscribe(world);
  await world.setStatus(await subscriptionOf(person), status);
  await world.settle();
  return person;
}

/** A renewal that could not be charged, and that Stripe then gave up. */
async function unpaid(): Promise<Person> {
  const person = await subscribe(world);
  const customer = await customerOf(world.database.db, person.userId);
  const { id } = await world.deps.payments.paymentMethods.attach("pm_card_chargeCustomerFail", { customer });
  await world.deps.payments.subscriptions.update(await subscriptionOf(person), { default_payment_method: id });
  const { current_period_end: end } = (await stateOf(world, person.userId)).subscription;
  await world.moveTo(new Date((end?.getTime() ?? 0) + 2 * 3_600_000));
  expect((await stateOf(world, person.userId)).subscription.status).toBe("past_due");
  await world.setStatus(await subscriptionOf(person), "unpaid");
  await world.settle();
  return person;
}

const cancel = (person: Person) => world.post("/api/billing/cancellation", person);
const statusAtStripe = async (id: string) => (await world.deps.payments.subscriptions.retrieve(id)).status;
const openInvoices = async (subscription: string) => (await world.deps.payments.invoices.list({ subscription, status: "open" })).data;

test("every status that Stripe has, or may add, is one of ours, and none that we don't know gives access", () => {
  const known = ["incomplete", "active", "trialing", "past_due", "unpaid", "paused", "canceled", "incomplete_expired", unknownStatus, ""];
  expect(Object.fromEntries(known.map((status) => [status, fromStripeStatus(status)]))).toEqual({
    incomplete: "incomplete",
    active: "active",
    trialing: "active",
    past_due: "past_due",
    unpaid: "suspended",
    paused: "suspended",
    canceled: "canceled",
    incomplete_expired: "canceled",
    [unknownStatus]: "suspended",
    "": "suspended",
  });
});

describe.each(["unpaid", "paused", unknownStatus])("a plan that is %s", (status) => {
  test("gives no access, is not called ended, and comes back by itself", async () => {
    const person = await suspended(status);
    expect((await stateOf(world, person.userId)).subscription).toMatchObject({ status: "suspended", ended_at: null, plan_key: "starter" });
    const { reason, ...told } = await check(person);
    expect(told).toMatchObject({ subscribed: false, status: "suspended", subscription_tier: "none", credits: 0, can_start_trial: false });
    expect(reason).toBe("No active subscription");
    expect(await mailsTo(world, person, "plan-ended")).toEqual([]);
    await world.setStatus(await subscriptionOf(person), "active");
    await world.settle();
    expect(await check(person)).toMatchObject({ subscribed: true, status: "active", credits: 300 });
    expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
  });

  test("refuses another plan with the way out, also before our rows have heard of it", async () => {
    const person = await suspended(status);
    expect(await world.checkout(person, "basic_month")).toMatchObject({ status: 409, code: "plan_suspended" });
    const change = await world.post("/api/billing/plan-change/preview", person, { priceId: "basic_month" });
    expect(change.json()).toMatchObject({ status: 409, code: "plan_suspended" });
    expect((await world.post("/api/billing/trial", person)).json().code).toBe("plan_suspended");
    const { db } = world.database;
    await db.updateTable("user_subscriptions").set({ status: "canceled" }).where("user_id", "=", person.userId).execute();
    expect(await world.checkout(person, "basic_month")).toMatchObject({ status: 409, code: "plan_suspended" });
  });

  test("ends at once when its payer cancels it, and then another plan can be bought", async () => {
    const person = await suspended(status);
    const before = await subscriptionOf(person);
    const answer = await cancel(person);
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { subscribed: false, status: "canceled" }]);
    expect(await statusAtStripe(before)).toBe("canceled");
    await world.settle();
    expect(await mailsTo(world, person, "plan-ended")).toHaveLength(1);
    expect((await cancel(person)).json().code).toBe("no_running_plan");
    await world.buy(person, "basic_month");
    await world.settle();
    expect(await check(person)).toMatchObject({ subscribed: true, subscription_tier: "basic", status: "active" });
    expect(await subscriptionOf(person)).not.toBe(before);
  });
});

describe("a plan whose renewal Stripe gave up", () => {
  test("says what is owed, and paying it brings the plan and its month back, once", async () => {
    const person = await unpaid();
    const [invoice] = await openInvoices(await subscriptionOf(person));
    const { unpaid: owed, ...told } = await check(person);
    expect(told).toMatchObject({ subscribed: false, status: "suspended" });
    expect(owed).toMatchObject({ invoiceId: invoice?.id, amountCents: 1999, until: null });
    await world.deps.payments.invoices.pay(invoice?.id ?? "", { payment_method: "pm_card_visa" });
    await world.settle();
    expect(await check(person)).toMatchObject({ subscribed: true, status: "active", credits: 300 });
    expect((await stateOf(world, person.userId)).invoices).toHaveLength(2);
  });

  test("that is cancelled leaves nothing to pay", async () => {
    const person = await unpaid();
    const subscription = await subscriptionOf(person);
    expect((await cancel(person)).json()).toMatchObject({ status: "canceled" });
    expect(await openInvoices(subscription)).toEqual([]);
    expect(await check(person)).not.toHaveProperty("unpaid");
  });

  test("ends with the days of grace like any unpaid plan, and its payer is told", async () => {
    const person = await unpaid();
    const subscription = await subscriptionOf(person);
    const { grace_until: until } = (await stateOf(world, person.userId)).subscription;
    world.clock.moveTo(new Date((until?.getTime() ?? 0) + 1_000));
    await endGracePeriods(world.deps, world.clock.now());
    expect(await statusAtStripe(subscription)).toBe("canceled");
    expect((await stateOf(world, person.userId)).subscription).toMatchObject({ status: "canceled", grace_until: null });
    expect(await openInvoices(subscription)).toEqual([]);
    expect(await mailsTo(world, person, "plan-ended")).toMatchObject([{ variant: "unpaid" }]);
    expect((await world.checkout(person, "basic_month")).status).toBe(200);
  });
});
