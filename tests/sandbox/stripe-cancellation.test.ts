/** Billing modes, the two shapes of a cancellation, and schedules that would prorate. */
import type Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Harness } from "./stripe/harness.ts";
import { createPlan, Receiver, startSandbox, subscribe } from "./stripe/harness.ts";

let harness: Harness;
let receiver: Receiver;

beforeEach(async () => {
  receiver = new Receiver();
  harness = await startSandbox({ webhookPort: await receiver.listen(), now: new Date("2026-01-31T10:00:00Z") });
});

afterEach(async () => {
  await harness.close();
  await receiver.close();
});

const seconds = (iso: string): number => Date.parse(iso) / 1000;
const periodEnd = seconds("2026-02-28T10:00:00Z");

async function inPortal(customer: string, action: string, target: string): Promise<void> {
  const portal = await harness.stripe.billingPortal.sessions.create({ customer });
  const response = await fetch(`${portal.url}/${action}`, { method: "POST", redirect: "manual", body: new URLSearchParams({ target }) });
  expect(response.status).toBe(303);
}

describe("billing mode", () => {
  test("is flexible unless the checkout asks for classic, and a schedule has its subscription's", async () => {
    const flexible = await subscribe(harness);
    expect(flexible.subscription.billing_mode).toMatchObject({ type: "flexible", flexible: { proration_discounts: "included" } });
    const classic = await subscribe(harness, { subscription_data: { billing_mode: { type: "classic" } } });
    expect(classic.subscription.billing_mode).toEqual({ type: "classic", flexible: null });
    const schedule = await harness.stripe.subscriptionSchedules.create({ from_subscription: classic.subscription.id });
    expect(schedule.billing_mode.type).toBe("classic");
    const options = { billing_mode: { type: "flexible" as const, flexible: { proration_discounts: "itemized" as const } } };
    await expect(subscribe(harness, { subscription_data: options })).rejects.toThrow(/billing_mode/);
  });

  test("decides the shape of a cancellation in the portal, which can be taken back in both", async () => {
    for (const type of ["flexible", "classic"] as const) {
      const { customer, subscription } = await subscribe(harness, { subscription_data: { billing_mode: { type } } });
      await inPortal(customer, "cancel", subscription.id);
      expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
        cancel_at: periodEnd,
        cancel_at_period_end: type === "classic",
        cancellation_details: { reason: "cancellation_requested" },
      });
      await inPortal(customer, "resume", subscription.id);
      expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
        cancel_at: null,
        cancel_at_period_end: false,
        canceled_at: null,
      });
    }
  });
});

describe("a date of cancellation", () => {
  test("can be named in flexible mode only, and comes alone", async () => {
    const { subscription } = await subscribe(harness);
    const update = (id: string, changes: Stripe.SubscriptionUpdateParams) => harness.stripe.subscriptions.update(id, changes);
    expect(await update(subscription.id, { cancel_at: "min_period_end" })).toMatchObject({ cancel_at: periodEnd });
    expect(await update(subscription.id, { cancel_at: "" })).toMatchObject({ cancel_at: null, canceled_at: null });
    await expect(update(subscription.id, { cancel_at: "", cancel_at_period_end: false })).rejects.toThrow("Please pass in only one");
    const classic = await subscribe(harness, { subscription_data: { billing_mode: { type: "classic" } } });
    await expect(update(classic.subscription.id, { cancel_at: "max_period_end" })).rejects.toThrow("Invalid integer");
  });

  test("that cuts a period short is refused unless nothing is prorated", async () => {
    const { subscription } = await subscribe(harness);
    const update = (changes: Stripe.SubscriptionUpdateParams) => harness.stripe.subscriptions.update(subscription.id, changes);
    const within = seconds("2026-02-10T00:00:00Z");
    await expect(update({ cancel_at: within })).rejects.toThrow("would prorate");
    await expect(update({ cancel_at: seconds("2026-03-10T00:00:00Z"), proration_behavior: "none" })).rejects.toThrow("would prorate");
    expect(await update({ cancel_at: seconds("2026-03-31T10:00:00Z") })).toMatchObject({ cancel_at: seconds("2026-03-31T10:00:00Z") });
    expect(await update({ cancel_at: within, proration_behavior: "none" })).toMatchObject({ cancel_at: within });
    await harness.advanceTo(new Date("2026-02-11T00:00:00Z"));
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ status: "canceled", ended_at: within });
  });
});

test("an ended subscription can still be given metadata and a reason, and nothing else", async () => {
  const { subscription } = await subscribe(harness);
  await harness.stripe.subscriptions.cancel(subscription.id);
  const changes = { metadata: { why: "moved" }, cancellation_details: { comment: "too dear", feedback: "too_expensive" as const } };
  expect(await harness.stripe.subscriptions.update(subscription.id, changes)).toMatchObject({
    status: "canceled",
    metadata: { why: "moved" },
    cancellation_details: { comment: "too dear", feedback: "too_expensive", reason: "cancellation_requested" },
  });
  await expect(harness.stripe.subscriptions.update(subscription.id, { description: "again" })).rejects.toMatchObject({
    code: "invalid_canceled_subscription_fields",
  });
});

describe("a schedule", () => {
  async function schedule(subscription: string): Promise<{ id: string; current: Stripe.SubscriptionSchedule.Phase }> {
    const created = await harness.stripe.subscriptionSchedules.create({ from_subscription: subscription });
    const current = created.phases[0];
    if (!current) throw new Error("the schedule has no phase");
    return { id: created.id, current };
  }
  const itemsOf = (phase: Stripe.SubscriptionSchedule.Phase) => [{ price: String(phase.items[0]?.price) }];

  test("whose phase changes the price within a period is refused unless it says none", async () => {
    const { subscription } = await subscribe(harness);
    const basic = await createPlan(harness.stripe, "Basic", 3999);
    const { id, current } = await schedule(subscription.id);
    const cutShort = { items: itemsOf(current), start_date: current.start_date, end_date: seconds("2026-02-10T10:00:00Z") };
    const update = (phases: Stripe.SubscriptionScheduleUpdateParams.Phase[], changes: Stripe.SubscriptionScheduleUpdateParams = {}) =>
      harness.stripe.subscriptionSchedules.update(id, { phases, ...changes });
    await expect(update([cutShort, { items: [{ price: basic.id }] }])).rejects.toMatchObject({ param: "phases[1][proration_behavior]" });
    harness.setNow(new Date("2026-02-05T00:00:00Z"));
    const repriced = { items: [{ price: basic.id }], start_date: current.start_date, end_date: current.end_date };
    await expect(update([repriced])).rejects.toThrow("would prorate");
    await update([cutShort, { items: [{ price: basic.id }], proration_behavior: "none" }]);
    await update([repriced], { proration_behavior: "none" });
  });

  test("whose phase has another interval is refused unless the phase begins the cycle anew", async () => {
    const { subscription } = await subscribe(harness);
    const year = await createPlan(harness.stripe, "Basic", 38_390, "year");
    const { id, current } = await schedule(subscription.id);
    const first = { items: itemsOf(current), start_date: current.start_date, end_date: current.end_date };
    const next: Stripe.SubscriptionScheduleUpdateParams.Phase = { items: [{ price: year.id }], proration_behavior: "none" };
    for (const anchor of [{}, { billing_cycle_anchor: "automatic" }] as const) {
      const refused = harness.stripe.subscriptionSchedules.update(id, { phases: [first, { ...next, ...anchor }] });
      await expect(refused).rejects.toMatchObject({ param: "phases[1][billing_cycle_anchor]" });
    }
    const { phases } = await harness.stripe.subscriptionSchedules.update(id, {
      phases: [first, { ...next, billing_cycle_anchor: "phase_start" }],
    });
    expect(phases.map(({ billing_cycle_anchor: anchor }) => anchor)).toEqual([null, "phase_start"]);
  });

  test("keeps the discounts that its phases name, and ends the others", async () => {
    const coupon = await harness.stripe.coupons.create({ percent_off: 10, duration: "forever", name: "ten" });
    const { subscription } = await subscribe(harness, { discounts: [{ coupon: coupon.id }] });
    const [discount] = subscription.discounts;
    const { id, current } = await schedule(subscription.id);
    expect(current.discounts).toEqual([{ coupon: null, discount, promotion_code: null }]);
    const phase = { items: itemsOf(current), start_date: current.start_date, end_date: current.end_date };
    const named = [{ discount: String(discount) }];
    const update = (first: Stripe.SubscriptionScheduleUpdateParams.Phase, next: Stripe.SubscriptionScheduleUpdateParams.Phase) =>
      harness.stripe.subscriptionSchedules.update(id, { phases: [first, next] });
    await expect(update({ ...phase, discounts: [{ discount: "di_none" }] }, { items: phase.items })).rejects.toThrow("could be reused");
    await expect(update({ ...phase, discounts: [{ coupon: coupon.id }] }, { items: phase.items })).rejects.toThrow("coupon");
    await update({ ...phase, discounts: named }, { items: phase.items });
    const discountsNow = async () => (await harness.stripe.subscriptions.retrieve(subscription.id)).discounts;
    expect(await discountsNow()).toEqual([discount]);
    await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
    expect(await discountsNow()).toEqual([]);
    const [deleted] = (await harness.stripe.events.list({ type: "customer.discount.deleted" })).data;
    expect(deleted?.data.object).toMatchObject({ id: discount });
  });

  test("that ends with its subscription has completed", async () => {
    const { subscription } = await subscribe(harness);
    const { id, current } = await schedule(subscription.id);
    const phase = { items: itemsOf(current), start_date: current.start_date, end_date: current.end_date };
    await harness.stripe.subscriptionSchedules.update(id, { end_behavior: "cancel", phases: [phase] });
    await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
    expect(await harness.stripe.subscriptionSchedules.retrieve(id)).toMatchObject({ status: "completed", completed_at: periodEnd });
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ status: "canceled", ended_at: periodEnd });
    const events = (await harness.stripe.events.list({ type: "subscription_schedule.*" })).data.map((event) => event.type);
    expect(events[0]).toBe("subscription_schedule.completed");
  });
});
