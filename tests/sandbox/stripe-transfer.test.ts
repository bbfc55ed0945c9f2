/** Subscriptions whose invoices are sent, to be paid by bank transfer: as at Stripe, nothing is charged. */
import type Stripe from "stripe";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Harness } from "./stripe/harness.ts";
import { createPlan, Receiver, startSandbox } from "./stripe/harness.ts";

let receiver: Receiver;
let harness: Harness;
let stripe: Stripe;
let sent: { customer: string; items: { price: string }[] };
beforeEach(async () => {
  receiver = new Receiver();
  harness = await startSandbox({ webhookPort: await receiver.listen(), now: new Date("2026-01-10T12:00:00Z") });
  ({ stripe } = harness);
  const { id: customer } = await stripe.customers.create({ email: "office@example.com" });
  sent = { customer, items: [{ price: (await createPlan(stripe, "Enterprise", 9_999)).id }] };
});
afterEach(async () => {
  await harness.close();
  await receiver.close();
});

const unix = (instant: string) => Date.parse(instant) / 1000;
const statusOf = async (subscription: string) => (await stripe.subscriptions.retrieve(subscription)).status;

test("an invoice that is sent is a draft for an hour, waits for its payment, and makes the subscription past due", async () => {
  const created = await stripe.subscriptions.create({
    ...{ ...sent, collection_method: "send_invoice", days_until_due: 14, expand: ["latest_invoice"] },
  });
  expect(created).toMatchObject({ status: "active", collection_method: "send_invoice", days_until_due: 14 });
  const id = typeof created.latest_invoice === "object" ? String(created.latest_invoice?.id) : "";
  expect(created.latest_invoice).toMatchObject({ status: "draft", due_date: unix("2026-01-24T12:00:00Z"), next_payment_attempt: null });
  await harness.advanceTo(new Date("2026-01-10T13:00:00Z"));
  const open = await stripe.invoices.retrieve(id);
  expect(open).toMatchObject({ status: "open", attempted: false, attempt_count: 0 });
  const page = await (await fetch(String(open.hosted_invoice_url))).text();
  expect(page).toContain("Pay by bank transfer");
  expect(page).not.toContain('name="card"');
  await harness.advanceTo(new Date("2026-01-24T11:59:59Z"));
  expect(await statusOf(created.id)).toBe("active");
  await harness.advanceTo(new Date("2026-01-24T12:00:00Z"));
  expect(await statusOf(created.id)).toBe("past_due");
  expect(await stripe.customers.retrieve(sent.customer)).toMatchObject({ delinquent: true });
  expect(await stripe.invoices.pay(id, { paid_out_of_band: true })).toMatchObject({ status: "paid", amount_remaining: 0 });
  expect(await statusOf(created.id)).toBe("active");
  expect(await stripe.customers.retrieve(sent.customer)).toMatchObject({ delinquent: false });
  await harness.advanceTo(new Date("2026-02-10T13:00:00Z"));
  const [renewal] = (await stripe.invoices.list({ subscription: created.id, status: "open" })).data;
  expect(renewal).toMatchObject({ billing_reason: "subscription_cycle", due_date: unix("2026-02-24T12:00:00Z"), attempted: false });
  expect((await stripe.charges.list()).data).toEqual([]);
});

test("finalising it earlier sends it at once, and nobody tries to charge it later", async () => {
  const { latest_invoice: id } = await stripe.subscriptions.create({ ...sent, collection_method: "send_invoice", days_until_due: 30 });
  expect((await stripe.invoices.finalizeInvoice(String(id))).status).toBe("open");
  await harness.advanceTo(new Date("2026-01-12T12:00:00Z"));
  expect(await stripe.invoices.retrieve(String(id))).toMatchObject({ status: "open", attempted: false });
});

test("a subscription that is charged begins with a checkout, and one that is sent says by when it is due", async () => {
  await expect(stripe.subscriptions.create(sent)).rejects.toThrow("with a checkout");
  await expect(stripe.subscriptions.create({ ...sent, collection_method: "charge_automatically" })).rejects.toThrow("collection_method");
  await expect(stripe.subscriptions.create({ ...sent, collection_method: "send_invoice" })).rejects.toThrow("days_until_due");
});
