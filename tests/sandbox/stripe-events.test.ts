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

test("a deleted customer's cards are detached, and nobody can use them again", async () => {
  const { customer } = await subscribe(harness);
  const [card] = (await harness.stripe.customers.listPaymentMethods(customer)).data;
  await harness.stripe.customers.del(customer);
  expect(await harness.stripe.paymentMethods.retrieve(String(card?.id))).toMatchObject({ customer: null });
  expect((await listed("payment_method.detached"))[0]?.data.previous_attributes).toEqual({ customer });
  const other = await harness.stripe.customers.create({ email: "other@example.com" });
  const attaching = harness.stripe.paymentMethods.attach(String(card?.id), { customer: other.id });
  await expect(attaching).rejects.toMatchObject({ statusCode: 400, message: expect.stringContaining("may not be used again") });
});

test("a customer is deleted for good: its subscription ends at once, it is told of once, and what it was is not said again", async () => {
  const { customer, subscription } = await subscribe(harness);
  const deleted = { id: customer, object: "customer", deleted: true };
  const key = { idempotencyKey: "delete-once" };
  expect(await harness.stripe.customers.del(customer, {}, key)).toMatchObject(deleted);
  await harness.stripe.customers.del(customer, {}, key);
  expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ status: "canceled", customer });
  const types = (await harness.stripe.events.list({ limit: 100 })).data.map(({ type }) => type);
  expect(types.filter((type) => /^customer\.(subscription\.)?deleted$/.test(type))).toEqual([
    "customer.deleted",
    "customer.subscription.deleted",
  ]);
  expect((await listed("customer.deleted"))[0]?.data.object).toMatchObject({ id: customer, object: "customer", metadata: { user: "1" } });
  const retrieved = await harness.stripe.customers.retrieve(customer);
  expect(
    Object.keys(retrieved)
      .filter((name) => name !== "lastResponse")
      .sort(),
  ).toEqual(Object.keys(deleted).sort());
  const missing = (param: string) => ({ code: "resource_missing", param });
  await expect(harness.stripe.customers.update(customer, { email: "late@example.com" })).rejects.toMatchObject(missing("id"));
  await expect(harness.stripe.customers.del(customer)).rejects.toMatchObject(missing("id"));
  await expect(harness.stripe.billingPortal.sessions.create({ customer })).rejects.toMatchObject(missing("customer"));
  expect((await harness.stripe.customers.list()).data.map(({ id }) => id)).not.toContain(customer);
});

async function disputed(): Promise<string> {
  await subscribe(harness);
  const [charge] = (await harness.stripe.charges.list()).data;
  const opened = await fetch(`${harness.address}/sandbox/disputes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ charge: charge?.id }),
  });
  return ((await opened.json()) as { id: string }).id;
}

test("a dispute's metadata and the text of its evidence can be changed, which an event tells of; other evidence is refused by name", async () => {
  const id = await disputed();
  await harness.stripe.disputes.update(id, { metadata: { seen: "yes" } });
  expect((await listed("charge.dispute.updated"))[0]?.data).toMatchObject({
    object: { id, metadata: { seen: "yes" } },
    previous_attributes: { metadata: { seen: null } },
  });
  const draft = await harness.stripe.disputes.update(id, { evidence: { uncategorized_text: "Here is why" }, submit: false });
  expect(draft).toMatchObject({ status: "needs_response", evidence_details: { has_evidence: true, submission_count: 0 } });
  const submitted = await harness.stripe.disputes.update(id, { submit: true });
  expect(submitted).toMatchObject({ status: "under_review", evidence_details: { submission_count: 1, submission_method: "manual" } });
  await expect(harness.stripe.disputes.update(id, { evidence: { product_description: "x" } })).rejects.toThrow("product_description");
});

test("evidence decides a dispute by its text; one that nobody answers is lost when its evidence was due", async () => {
  const id = await disputed();
  expect(await harness.stripe.disputes.update(id, { evidence: { uncategorized_text: "winning_evidence" } })).toMatchObject({
    status: "won",
  });
  await expect(harness.stripe.disputes.close(id)).rejects.toThrow("already closed");
  const unanswered = await harness.stripe.disputes.retrieve(await disputed());
  const dueBy = new Date((unanswered.evidence_details.due_by ?? 0) * 1_000);
  await harness.advanceTo(new Date(dueBy.getTime() - 1_000));
  expect(await harness.stripe.disputes.retrieve(unanswered.id)).toMatchObject({ status: "needs_response" });
  await harness.advanceTo(dueBy);
  expect(await harness.stripe.disputes.retrieve(unanswered.id)).toMatchObject({
    status: "lost",
    evidence_details: { past_due: true },
  });
});

async function charged(card: string): Promise<string> {
  const intent = await harness.stripe.paymentIntents.create({ amount: 799, currency: "usd", confirm: true, payment_method: card });
  return String(intent.latest_charge);
}

test("an inquiry takes no money, can be refunded, and ends", async () => {
  const charge = await charged("pm_card_createDisputeInquiry");
  await harness.advanceTo(harness.now());
  const [inquiry] = (await harness.stripe.disputes.list({ charge })).data;
  expect(inquiry).toMatchObject({ status: "warning_needs_response", balance_transactions: [], is_charge_refundable: true });
  expect(await listed("charge.dispute.funds_withdrawn")).toEqual([]);
  await harness.stripe.refunds.create({ charge });
  await harness.stripe.disputes.update(String(inquiry?.id), { evidence: { uncategorized_text: "winning_evidence" } });
  expect(await harness.stripe.disputes.retrieve(String(inquiry?.id))).toMatchObject({ status: "warning_closed" });
});

test.each([
  ["pm_card_createDispute", "fraudulent"],
  ["pm_card_createDisputeProductNotReceived", "product_not_received"],
])("the card %s disputes its charge as %s", async (card, reason) => {
  const charge = await charged(card);
  await harness.advanceTo(harness.now());
  expect((await harness.stripe.disputes.list({ charge })).data).toMatchObject([{ reason, status: "needs_response", amount: 799 }]);
});

test("a refund can be pending for an hour, or come back after one, and the balance says so", async () => {
  const inAnHour = () => harness.advanceTo(new Date(harness.now().getTime() + 3_600_000));
  const pending = await harness.stripe.refunds.create({ charge: await charged("pm_card_pendingRefund"), amount: 500 });
  expect(pending.status).toBe("pending");
  await inAnHour();
  expect(await harness.stripe.refunds.retrieve(pending.id)).toMatchObject({ status: "succeeded" });
  const charge = await charged("pm_card_refundFail");
  const failing = await harness.stripe.refunds.create({ charge });
  expect(failing.status).toBe("succeeded");
  await inAnHour();
  expect(await harness.stripe.refunds.retrieve(failing.id)).toMatchObject({ status: "failed", failure_reason: "expired_or_canceled_card" });
  expect(await harness.stripe.charges.retrieve(charge)).toMatchObject({ amount_refunded: 0, refunded: false });
  expect(await listed("refund.failed")).toHaveLength(1);
  const posted = await harness.stripe.balanceTransactions.list({ limit: 100 });
  const sum = posted.data.filter(({ source }) => source === failing.id).reduce((total, { amount }) => total + amount, 0);
  expect(sum).toBe(0);
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
