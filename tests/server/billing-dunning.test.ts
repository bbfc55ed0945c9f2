/** A renewal that is never paid: our days of grace end while Stripe still retries, or long after Stripe has given up. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { endGracePeriods } from "#server/features/billing/schedules.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { customerOf } from "../support/payers.ts";

let world: BillingWorld;
let person: Person;
let subscription: string;

beforeEach(async () => {
  world = await startBillingWorld({}, new Date("2026-01-31T12:00:00Z"));
  person = await world.person();
  await world.buy(person);
  await world.settle();
  const customer = await customerOf(world.database.db, person.userId);
  const method = await world.deps.payments.paymentMethods.attach("pm_card_chargeCustomerFail", { customer });
  const [bought] = (await world.deps.payments.subscriptions.list({ customer })).data;
  subscription = String(bought?.id);
  await world.deps.payments.subscriptions.update(subscription, { default_payment_method: method.id });
});
afterEach(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.close();
});

const newestInvoice = async () => (await world.deps.payments.invoices.list({ subscription })).data[0];

test("seven days after the failure we cancel and void, though Stripe has tries left", async () => {
  await world.moveTo(new Date("2026-03-07T12:59:00Z"));
  expect((await newestInvoice())?.next_payment_attempt).toBe(Date.parse("2026-03-08T13:00:00Z") / 1000);
  expect((await stateOf(world, person.userId)).subscription.status).toBe("past_due");
  await world.moveTo(new Date("2026-03-07T13:00:00Z"));
  expect((await stateOf(world, person.userId)).subscription).toMatchObject({ status: "canceled", grace_until: null });
  expect(await newestInvoice()).toMatchObject({ status: "void", next_payment_attempt: null });
  await world.moveTo(new Date("2026-04-30T00:00:00Z"));
  const tries = (await world.deps.payments.charges.list({ limit: 100 })).data.filter(({ status }) => status === "failed");
  expect(tries).toHaveLength(5);
  expect((await stateOf(world, person.userId)).invoices).toHaveLength(1);
});

test("after three weeks without a worker we meet Stripe's own end, and nothing is left to pay", async () => {
  const renewal = new Date("2026-02-28T13:00:00Z");
  await world.moveTo(renewal);
  expect((await stateOf(world, person.userId)).subscription.status).toBe("past_due");
  await world.moveTo(new Date("2026-03-21T13:00:00Z"), { bringing: false });
  expect(await world.deps.payments.subscriptions.retrieve(subscription)).toMatchObject({
    status: "canceled",
    ended_at: Date.parse("2026-03-14T13:00:00Z") / 1000,
    cancellation_details: { reason: "payment_failed" },
  });
  // The sweep comes before the events.
  await endGracePeriods(world.deps, world.clock.now());
  await world.settle();
  expect(await stateOf(world, person.userId)).toMatchObject({
    subscription: { status: "canceled", grace_until: null, ended_at: new Date("2026-03-14T13:00:00Z") },
    invoices: [{ amount_paid_cents: 1999 }],
  });
  expect((await world.post("/api/functions/reliable-subscription-check", person)).json()).toMatchObject({ subscribed: false, credits: 0 });
  expect((await newestInvoice())?.status).toBe("void");
});
