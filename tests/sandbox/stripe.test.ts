import type Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "#tests/support/until.ts";
import type { Harness } from "./stripe/harness.ts";
import { createPlan, createSession, pay, Receiver, startSandbox, subscribe } from "./stripe/harness.ts";

let harness: Harness;
let receiver: Receiver;

beforeEach(async () => {
  receiver = new Receiver();
  harness = await startSandbox({ webhookPort: await receiver.listen() });
});

afterEach(async () => {
  await harness.close();
  await receiver.close();
});

async function delivered(): Promise<void> {
  await until(() => harness.sandbox.pendingDeliveries() === 0, "all webhooks delivered");
}

describe("checkout", () => {
  test("a paid subscription session gives one active subscription, one paid invoice and a signed event for each change", async () => {
    const { session, subscription, customer, price } = await subscribe(harness, {
      client_reference_id: "user-1",
      metadata: { user: "1" },
      subscription_data: { metadata: { plan: "starter" } },
    });
    expect(session).toMatchObject({
      status: "complete",
      payment_status: "paid",
      amount_total: 1999,
      client_reference_id: "user-1",
      url: null,
      metadata: { user: "1" },
    });
    expect(subscription).toMatchObject({ status: "active", customer, metadata: { plan: "starter" } });
    const item = subscription.items.data[0];
    expect(item).toMatchObject({
      price: { id: price.id },
      current_period_start: Date.parse("2026-01-31T10:00:00Z") / 1000,
      current_period_end: Date.parse("2026-02-28T10:00:00Z") / 1000,
    });
    const invoice = await harness.stripe.invoices.retrieve(String(subscription.latest_invoice), {
      expand: ["payments.data.payment.payment_intent"],
    });
    expect(invoice).toMatchObject({
      status: "paid",
      amount_paid: 1999,
      billing_reason: "subscription_create",
      parent: { subscription_details: { subscription: subscription.id, metadata: { plan: "starter" } } },
    });
    expect(invoice.payments?.data[0]).toMatchObject({
      status: "paid",
      amount_paid: 1999,
      payment: { payment_intent: { status: "succeeded", amount_received: 1999 } },
    });
    expect(invoice.lines.data[0]).toMatchObject({
      period: { start: item?.current_period_start, end: item?.current_period_end },
      pricing: { price_details: { price: price.id } },
    });
    await delivered();
    const types = receiver.types();
    expect(types).toEqual(
      expect.arrayContaining([
        "customer.subscription.created",
        "invoice.created",
        "invoice.finalized",
        "charge.succeeded",
        "invoice.paid",
        "invoice.payment_succeeded",
        "checkout.session.completed",
      ]),
    );
    const listed = await harness.stripe.events.list({ limit: 100 }).autoPagingToArray({ limit: 1000 });
    expect(receiver.received.map((item) => item.event.id).sort()).toEqual(listed.map((event) => event.id).sort());
  });

  test("paying a session twice, at once or later, gives one subscription", async () => {
    const price = await createPlan(harness.stripe, "Basic", 3999);
    const session = await createSession(harness, price.id, { customer_email: "bo@example.com" });
    const responses = await Promise.all([
      pay(harness, session.id, "success"),
      pay(harness, session.id, "success"),
      pay(harness, session.id, "success", false),
    ]);
    expect(responses.map((response) => response.status)).toEqual([303, 303, 303]);
    expect(responses[0]?.headers.get("location")).toBe(`http://127.0.0.1:3000/profile?session=${session.id}`);
    expect((await harness.stripe.subscriptions.list({ status: "all" })).data).toHaveLength(1);
    const paid = await harness.stripe.checkout.sessions.retrieve(session.id, { expand: ["customer", "line_items"] });
    expect(paid).toMatchObject({ customer: { email: "bo@example.com" }, line_items: { data: [{ amount_total: 3999, quantity: 1 }] } });
  });

  test("a coupon of 20 % reduces only the first period, to the cent", async () => {
    const coupon = await harness.stripe.coupons.create({ percent_off: 20, duration: "once", name: "Welcome" });
    const { session, subscription } = await subscribe(harness, { discounts: [{ coupon: coupon.id }] });
    expect(session).toMatchObject({
      amount_subtotal: 1999,
      amount_total: 1599,
      total_details: { amount_discount: 400 },
      discounts: [{ coupon: coupon.id }],
    });
    const first = await harness.stripe.invoices.retrieve(String(subscription.latest_invoice), { expand: ["discounts"] });
    expect(first).toMatchObject({
      subtotal: 1999,
      total: 1599,
      amount_paid: 1599,
      discounts: [{ source: { coupon: coupon.id, type: "coupon" } }],
      total_discount_amounts: [{ amount: 400 }],
    });
    await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
    const [second] = (await harness.stripe.invoices.list({ subscription: subscription.id })).data;
    expect(second).toMatchObject({ billing_reason: "subscription_cycle", total: 1999, status: "paid", discounts: [] });
    expect(await harness.stripe.coupons.retrieve(coupon.id)).toMatchObject({ times_redeemed: 1 });
  });

  test("a declined card creates a failed charge and no subscription; another card can then pay", async () => {
    const price = await createPlan(harness.stripe, "Starter", 1999);
    const session = await createSession(harness, price.id, { customer_email: "cy@example.com" });
    const declined = await pay(harness, session.id, "declined");
    expect(declined.status).toBe(402);
    expect(await declined.json()).toMatchObject({ error: { type: "card_error", code: "card_declined", decline_code: "generic_decline" } });
    const byForm = await pay(harness, session.id, "declined", false);
    expect([byForm.status, byForm.headers.get("location")]).toEqual([303, `/c/pay/${session.id}`]);
    expect(await (await fetch(`${harness.address}/c/pay/${session.id}`)).text()).toContain("Your card was declined.");
    expect((await harness.stripe.subscriptions.list({ status: "all" })).data).toHaveLength(0);
    expect((await harness.stripe.charges.list()).data.map((charge) => charge.status)).toEqual(["failed", "failed"]);
    expect((await pay(harness, session.id, "success")).status).toBe(303);
    expect((await harness.stripe.paymentIntents.list()).data).toHaveLength(1);
    await delivered();
    expect(receiver.types().filter((type) => type === "payment_intent.payment_failed")).toHaveLength(2);
  });

  test("an authentication waits on the page, can fail, and pays when it succeeds", async () => {
    const price = await createPlan(harness.stripe, "Starter", 1999);
    const session = await createSession(harness, price.id, { customer_email: "di@example.com" });
    const asked = await pay(harness, session.id, "authentication", false);
    expect(asked.headers.get("location")).toBe(`/c/pay/${session.id}`);
    expect(await (await fetch(`${harness.address}/c/pay/${session.id}`)).text()).toContain("Your bank asks");
    const answer = (step: string): Promise<Response> =>
      fetch(`${harness.address}/checkout/${session.id}/pay`, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams({ from: "page", card: "authentication", step }),
      });
    await answer("refuse");
    expect(await (await fetch(`${harness.address}/c/pay/${session.id}`)).text()).toContain("could not authenticate");
    await pay(harness, session.id, "authentication", false);
    expect((await answer("approve")).headers.get("location")).toContain(session.id);
    expect(await harness.stripe.checkout.sessions.retrieve(session.id)).toMatchObject({ status: "complete" });
    const scripted = await createSession(harness, price.id, { customer_email: "ed@example.com" });
    expect((await pay(harness, scripted.id, "authentication")).headers.get("location")).toContain(scripted.id);
  });

  test("a payment session charges once, with inline price and quantity, and its intent has its own metadata", async () => {
    const customer = await harness.stripe.customers.create({ email: "fay@example.com" });
    const session = await harness.stripe.checkout.sessions.create({
      mode: "payment",
      customer: customer.id,
      line_items: [{ price_data: { currency: "usd", unit_amount: 799, product_data: { name: "100 credits" } }, quantity: 2 }],
      payment_intent_data: { metadata: { pack: "pack_100" } },
      success_url: "http://127.0.0.1:3000/profile",
    });
    await pay(harness, session.id, "success");
    const paid = await harness.stripe.checkout.sessions.retrieve(session.id, { expand: ["payment_intent.latest_charge"] });
    expect(paid).toMatchObject({
      payment_status: "paid",
      amount_total: 1598,
      subscription: null,
      invoice: null,
      payment_intent: { metadata: { pack: "pack_100" }, latest_charge: { amount: 1598 } },
    });
  });

  test("a session expires after 24 hours, and one expired by hand can't be paid", async () => {
    const price = await createPlan(harness.stripe, "Starter", 1999);
    const left = await createSession(harness, price.id);
    const byHand = await createSession(harness, price.id);
    await harness.stripe.checkout.sessions.expire(byHand.id);
    expect((await pay(harness, byHand.id, "success")).status).toBe(400);
    expect(harness.sandbox.nextDueAt()).toEqual(new Date("2026-02-01T10:00:00Z"));
    await harness.advanceTo(new Date("2026-02-02T00:00:00Z"));
    expect(await harness.stripe.checkout.sessions.retrieve(left.id)).toMatchObject({ status: "expired", url: null });
    await delivered();
    expect(receiver.types().filter((type) => type === "checkout.session.expired")).toHaveLength(2);
  });
});

describe("refunds and disputes", () => {
  async function chargeOf(subscription: Stripe.Subscription): Promise<Stripe.Charge> {
    const payments = await harness.stripe.invoicePayments.list({ invoice: String(subscription.latest_invoice) });
    const intent = await harness.stripe.paymentIntents.retrieve(String(payments.data[0]?.payment.payment_intent), {
      expand: ["latest_charge"],
    });
    if (typeof intent.latest_charge !== "object" || intent.latest_charge === null) throw new Error("the intent has no charge");
    return intent.latest_charge;
  }

  test("partial refunds add up and can't exceed the charge", async () => {
    const { subscription } = await subscribe(harness);
    const charge = await chargeOf(subscription);
    await harness.stripe.refunds.create({ charge: charge.id, amount: 500, reason: "requested_by_customer" });
    expect(await harness.stripe.charges.retrieve(charge.id)).toMatchObject({ amount_refunded: 500, refunded: false });
    await expect(harness.stripe.refunds.create({ charge: charge.id, amount: 1500 })).rejects.toThrow("greater than unrefunded amount");
    await harness.stripe.refunds.create({ payment_intent: String(charge.payment_intent) });
    const refunded = await harness.stripe.charges.retrieve(charge.id, { expand: ["refunds"] });
    expect(refunded).toMatchObject({ amount_refunded: 1999, refunded: true });
    expect(refunded.refunds?.data.map((refund) => refund.amount)).toEqual([1499, 500]);
    await expect(harness.stripe.refunds.create({ charge: charge.id })).rejects.toMatchObject({ code: "charge_already_refunded" });
    const transactions = await harness.stripe.balanceTransactions.list({ limit: 100 });
    expect(transactions.data.reduce((sum, transaction) => sum + transaction.amount, 0)).toBe(0);
  });

  test("a dispute withdraws the money; winning it returns the money", async () => {
    const { subscription } = await subscribe(harness);
    const charge = await chargeOf(subscription);
    const call = (path: string, body: object): Promise<Response> =>
      fetch(`${harness.address}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const dispute = (await (await call("/sandbox/disputes", { charge: charge.id })).json()) as Stripe.Dispute;
    expect(await harness.stripe.charges.retrieve(charge.id)).toMatchObject({ disputed: true });
    await expect(harness.stripe.refunds.create({ charge: charge.id })).rejects.toMatchObject({ code: "charge_disputed" });
    await call(`/sandbox/disputes/${dispute.id}/close`, { outcome: "won" });
    expect(await harness.stripe.disputes.retrieve(dispute.id)).toMatchObject({ status: "won", amount: 1999 });
    await delivered();
    expect(receiver.types()).toEqual(
      expect.arrayContaining([
        "charge.dispute.created",
        "charge.dispute.funds_withdrawn",
        "charge.dispute.closed",
        "charge.dispute.funds_reinstated",
      ]),
    );
    const transactions = await harness.stripe.balanceTransactions.list({ limit: 100 });
    expect(transactions.data.reduce((sum, transaction) => sum + transaction.net, 0)).toBe(1999 - 88);
  });
});
