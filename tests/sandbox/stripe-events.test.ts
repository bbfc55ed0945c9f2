/** The events Stripe sends beside those about payments, what they say of the past, and how long they are kept. */
import type Stripe from "stripe";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Harness } from "./stripe/harness.ts";
import { Receiver, startSandbox, subscribe } from "./stripe/harness.ts";

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

async function listed(type: string): Promise<Stripe.Event[]> {
  return (await harness.stripe.events.list({ type, limit: 100 })).data;
}

test("seven days before a renewal its invoice is announced, without an id; not before a cancellation", async () => {
  const coupon = await harness.stripe.coupons.create({ percent_off: 50, duration: "forever" });
  const { subscription } = await subscribe(harness, { discounts: [{ coupon: coupon.id }] });
  await harness.advanceTo(new Date("2026-02-21T09:59:59Z"));
  expect(await listed("invoice.upcoming")).toEqual([]);
  await harness.advanceTo(new Date("2026-02-21T10:00:00Z"));
  const [announced] = await listed("invoice.upcoming");
  expect(announced?.data.object).not.toHaveProperty("id");
  expect(announced?.data.object).toMatchObject({
    billing_reason: "upcoming",
    status: "draft",
    total: 999,
    next_payment_attempt: seconds("2026-02-28T11:00:00Z"),
    lines: { data: [{ period: { start: seconds("2026-02-28T10:00:00Z"), end: seconds("2026-03-31T10:00:00Z") } }] },
  });
  expect((await harness.stripe.invoices.list({ subscription: subscription.id })).data).toHaveLength(1);
  await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
  await harness.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
  await harness.advanceTo(new Date("2026-03-30T00:00:00Z"));
  expect((await listed("invoice.upcoming")).map((event) => event.created)).not.toContain(seconds("2026-03-24T10:00:00Z"));
});

test("a repeating discount leaves its subscription when its months are over; one of a single invoice leaves with it", async () => {
  const repeating = await harness.stripe.coupons.create({ percent_off: 50, duration: "repeating", duration_in_months: 1 });
  const { subscription, customer } = await subscribe(harness, { discounts: [{ coupon: repeating.id }] });
  expect(subscription.discounts).toHaveLength(1);
  expect((await listed("customer.discount.created"))[0]?.data.object).toMatchObject({ customer, subscription: subscription.id });
  await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
  expect((await harness.stripe.subscriptions.retrieve(subscription.id)).discounts).toEqual([]);
  expect((await listed("customer.discount.deleted")).map((event) => event.created)).toEqual([seconds("2026-02-28T10:00:00Z")]);
  const totals = (await harness.stripe.invoices.list({ subscription: subscription.id })).data.map((invoice) => invoice.total);
  expect(totals).toEqual([1999, 999]);
  const once = await harness.stripe.coupons.create({ percent_off: 50, duration: "once" });
  expect((await subscribe(harness, { discounts: [{ coupon: once.id }] })).subscription.discounts).toEqual([]);
  expect(await listed("customer.discount.deleted")).toHaveLength(2);
});

test("what an event says of the past is what differs, within nested objects too", async () => {
  const { subscription } = await subscribe(harness);
  await harness.stripe.subscriptions.update(subscription.id, {
    metadata: { plan: "starter" },
    cancellation_details: { comment: "x" },
    cancel_at_period_end: true,
  });
  const [updated] = await listed("customer.subscription.updated");
  expect(updated?.data.previous_attributes).toEqual({
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, reason: null },
    metadata: { plan: null },
  });
});

test("events are listed for 30 days; later ones can't be found, and are not kept", async () => {
  await subscribe(harness);
  const [first] = (await harness.stripe.events.list({ limit: 1 })).data;
  harness.setNow(new Date("2026-03-02T10:00:00Z"));
  expect((await harness.stripe.events.retrieve(String(first?.id))).id).toBe(first?.id);
  harness.setNow(new Date("2026-03-02T10:00:01Z"));
  await harness.sandbox.flushDeliveries();
  expect((await harness.stripe.events.list()).data).toEqual([]);
  await expect(harness.stripe.events.retrieve(String(first?.id))).rejects.toMatchObject({ statusCode: 404 });
  await harness.stripe.customers.create();
  harness.setNow(new Date("2026-02-28T00:00:00Z"));
  expect((await harness.stripe.events.list()).data.map((event) => event.type)).toEqual(["customer.created"]);
});

test("money is pending for two days, then available", async () => {
  const { customer } = await subscribe(harness);
  const status = async () =>
    (await harness.stripe.charges.list({ customer, expand: ["data.balance_transaction"] })).data[0]?.balance_transaction;
  expect(await status()).toMatchObject({ status: "pending" });
  harness.setNow(new Date("2026-02-02T10:00:00Z"));
  expect(await status()).toMatchObject({ status: "available" });
});

test("a deleted customer's cards are detached", async () => {
  const { customer } = await subscribe(harness);
  const [card] = (await harness.stripe.customers.listPaymentMethods(customer)).data;
  await harness.stripe.customers.del(customer);
  expect(await harness.stripe.paymentMethods.retrieve(String(card?.id))).toMatchObject({ customer: null });
  expect((await listed("payment_method.detached"))[0]?.data.previous_attributes).toEqual({ customer });
});

test("a dispute's metadata can be changed, which an event tells of; evidence is refused", async () => {
  await subscribe(harness);
  const [charge] = (await harness.stripe.charges.list()).data;
  const opened = await fetch(`${harness.address}/sandbox/disputes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ charge: charge?.id }),
  });
  const { id } = (await opened.json()) as { id: string };
  await harness.stripe.disputes.update(id, { metadata: { seen: "yes" } });
  expect((await listed("charge.dispute.updated"))[0]?.data).toMatchObject({
    object: { id, metadata: { seen: "yes" } },
    previous_attributes: { metadata: { seen: null } },
  });
  await expect(harness.stripe.disputes.update(id, { evidence: { product_description: "x" } })).rejects.toThrow("takes no evidence");
});

test("a charge's receipt says what was paid, and what was given back since", async () => {
  const { customer } = await subscribe(harness);
  const [charge] = (await harness.stripe.charges.list({ customer })).data;
  const shown = async () => (await fetch(String(charge?.receipt_url))).text();
  expect(await shown()).toMatch(/Receipt from Tessera[\s\S]*\$19\.99[\s\S]*•••• 4242/);
  expect(await shown()).not.toContain("Refunded");
  await harness.stripe.refunds.create({ charge: String(charge?.id), amount: 500 });
  expect(await shown()).toMatch(/Refunded[\s\S]*\$5\.00[\s\S]*\$14\.99/);
  await expect(
    harness.stripe.paymentIntents.create({ amount: 500, currency: "usd", confirm: true, payment_method: "pm_card_chargeCustomerFail" }),
  ).rejects.toThrow("declined");
  const failed = (await harness.stripe.charges.list()).data.find(({ status }) => status === "failed");
  expect(failed?.receipt_url).toBeNull();
  expect((await fetch(`${harness.address}/receipts/${failed?.id}`)).status).toBe(400);
});
