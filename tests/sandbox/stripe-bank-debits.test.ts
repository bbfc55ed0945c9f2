/** Debits of US bank accounts: what Stripe says while the bank has not answered, and what follows from its answer. */
import type Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Harness } from "./stripe/harness.ts";
import { createPlan, createSession, pay, Receiver, refusal, startSandbox } from "./stripe/harness.ts";

/** A Wednesday: a weekend lies between it and the answer. */
const start = new Date("2026-01-28T10:00:00Z");
const answeredAt = new Date("2026-02-03T10:00:00Z");

let harness: Harness;
let receiver: Receiver;
let customer: string;

beforeEach(async () => {
  receiver = new Receiver();
  harness = await startSandbox({ webhookPort: await receiver.listen(), now: start });
  customer = (await harness.stripe.customers.create({ email: "ada@example.com" })).id;
});

afterEach(async () => {
  await harness.close();
  await receiver.close();
});

async function typesSince(at: Date): Promise<string[]> {
  const created = { gte: at.getTime() / 1000 };
  return (await harness.stripe.events.list({ limit: 100, created })).data.map((event) => event.type).reverse();
}

const expand = ["payment_intent.latest_charge", "payment_intent.payment_method", "invoice", "subscription"];
const read = (id: string) => harness.stripe.checkout.sessions.retrieve(id, { expand });

async function order(account: string, extra: Stripe.Checkout.SessionCreateParams = {}, currency = "usd"): Promise<string> {
  const { id } = await harness.stripe.checkout.sessions.create({
    mode: "payment",
    customer,
    line_items: [{ price_data: { currency, unit_amount: 1_000, product_data: { name: "100 credits" } }, quantity: 1 }],
    success_url: "http://127.0.0.1:3000/",
    ...extra,
  });
  const response = await pay(harness, id, account);
  expect(response.status).toBe(currency === "usd" ? 303 : 400);
  return id;
}

async function subscribe(account: string): Promise<{ session: string; subscription: string; invoice: string }> {
  const price = await createPlan(harness.stripe, "Starter", 1999);
  const { id } = await createSession(harness, price.id, { customer });
  await pay(harness, id, account);
  const { subscription, invoice } = await harness.stripe.checkout.sessions.retrieve(id);
  return { session: id, subscription: String(subscription), invoice: String(invoice) };
}

const statusOf = async (subscription: string) => (await harness.stripe.subscriptions.retrieve(subscription)).status;

describe("a single payment", () => {
  test("completes the session unpaid; the charge is pending and nothing is in the balance", async () => {
    const id = await order("bank_debit", { invoice_creation: { enabled: true } });
    expect(await read(id)).toMatchObject({
      status: "complete",
      payment_status: "unpaid",
      payment_method_types: ["card", "us_bank_account"],
      invoice: null,
      payment_intent: {
        status: "processing",
        amount_received: 0,
        payment_method: { type: "us_bank_account", us_bank_account: { last4: "6789" } },
        latest_charge: { status: "pending", paid: false, balance_transaction: null, receipt_url: null },
      },
    });
    const types = await typesSince(start);
    expect(types.slice(-3)).toEqual(["payment_intent.processing", "charge.pending", "checkout.session.completed"]);
    expect((await harness.stripe.balanceTransactions.list()).data).toEqual([]);
    await harness.advanceTo(new Date(answeredAt.getTime() - 1_000));
    expect(await read(id)).toMatchObject({ payment_status: "unpaid" });
  });

  test("that the bank pays is paid on the fourth business day, and its invoice is made then", async () => {
    const id = await order("bank_debit", { invoice_creation: { enabled: true } });
    await harness.advanceTo(answeredAt);
    expect(await read(id)).toMatchObject({
      payment_status: "paid",
      invoice: { status: "paid", total: 1_000 },
      payment_intent: { status: "succeeded", amount_received: 1_000, latest_charge: { status: "succeeded", paid: true } },
    });
    const types = (await typesSince(answeredAt)).filter((type) => !type.startsWith("invoice"));
    expect(types).toEqual(["charge.succeeded", "payment_intent.succeeded", "checkout.session.async_payment_succeeded"]);
    expect((await typesSince(answeredAt)).filter((type) => type === "invoice.paid")).toHaveLength(1);
    expect((await harness.stripe.balanceTransactions.list()).data).toMatchObject([{ amount: 1_000, fee: 8, type: "payment" }]);
    await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
    expect((await harness.stripe.charges.list()).data).toHaveLength(1);
  });

  test("that the bank returns leaves the session unpaid and without an invoice", async () => {
    const id = await order("bank_debit_fails", { invoice_creation: { enabled: true } });
    await harness.advanceTo(answeredAt);
    expect(await read(id)).toMatchObject({
      status: "complete",
      payment_status: "unpaid",
      invoice: null,
      payment_intent: {
        status: "requires_payment_method",
        last_payment_error: { code: "insufficient_funds" },
        latest_charge: { status: "failed", paid: false, failure_code: "insufficient_funds" },
      },
    });
    expect(await typesSince(answeredAt)).toEqual([
      "charge.failed",
      "payment_intent.payment_failed",
      "checkout.session.async_payment_failed",
    ]);
    expect((await harness.stripe.balanceTransactions.list()).data).toEqual([]);
  });

  test("keeps its discount until its invoice is made", async () => {
    const coupon = await harness.stripe.coupons.create({ percent_off: 10, duration: "once" });
    const id = await order("bank_debit", { invoice_creation: { enabled: true }, discounts: [{ coupon: coupon.id }] });
    await harness.advanceTo(answeredAt);
    expect(await read(id)).toMatchObject({ invoice: { status: "paid", subtotal: 1_000, total: 900 } });
  });

  test("is in dollars, and is settled though its customer is deleted meanwhile", async () => {
    await order("bank_debit", {}, "eur");
    const id = await order("bank_debit", { invoice_creation: { enabled: true } });
    await harness.stripe.customers.del(customer);
    await harness.advanceTo(answeredAt);
    expect(await read(id)).toMatchObject({ payment_status: "paid", invoice: null });
  });

  test("can't be refunded or canceled on its way; once it is paid its refund takes three business days", async () => {
    const id = await order("bank_debit");
    const { payment_intent: intent } = await harness.stripe.checkout.sessions.retrieve(id);
    const { latest_charge: charge } = await harness.stripe.paymentIntents.retrieve(String(intent));
    const { refunds, paymentIntents } = harness.stripe;
    for (const call of [
      refunds.create({ charge: String(charge) }),
      refunds.create({ payment_intent: String(intent) }),
      paymentIntents.cancel(String(intent)),
      paymentIntents.confirm(String(intent), { payment_method: "pm_card_visa" }),
    ])
      expect((await refusal(call)).statusCode).toBe(400);
    await harness.advanceTo(answeredAt);
    const refund = await refunds.create({ charge: String(charge) });
    expect(refund).toMatchObject({ status: "pending", destination_details: { type: "us_bank_transfer" } });
    await harness.advanceTo(new Date("2026-02-06T10:00:00Z"));
    expect(await refunds.retrieve(refund.id)).toMatchObject({ status: "succeeded" });
  });
});

describe("a subscription", () => {
  test("is active at once and its invoice open; both are settled when the bank pays, and so is the renewal", async () => {
    const { session, subscription, invoice } = await subscribe("bank_debit");
    expect(await read(session)).toMatchObject({
      status: "complete",
      payment_status: "unpaid",
      invoice: { status: "open", attempted: true },
    });
    expect(await statusOf(subscription)).toBe("active");
    await harness.advanceTo(answeredAt);
    expect(await typesSince(answeredAt)).toEqual([
      "charge.succeeded",
      "payment_intent.succeeded",
      "invoice.updated",
      "invoice_payment.paid",
      "invoice.paid",
      "invoice.payment_succeeded",
      "checkout.session.async_payment_succeeded",
    ]);
    expect(await read(session)).toMatchObject({ payment_status: "paid", invoice: { status: "paid", attempt_count: 1 } });
    const renewsAt = new Date("2026-02-28T12:00:00Z");
    await harness.advanceTo(renewsAt);
    const [renewal] = (await harness.stripe.invoices.list({ subscription })).data;
    expect(renewal).toMatchObject({ billing_reason: "subscription_cycle", status: "open", attempt_count: 1, next_payment_attempt: null });
    expect([renewal?.id === invoice, await statusOf(subscription)]).toEqual([false, "active"]);
    await harness.advanceTo(new Date("2026-03-06T00:00:00Z"));
    expect(await harness.stripe.invoices.retrieve(String(renewal?.id))).toMatchObject({ status: "paid", attempt_count: 1 });
    expect((await typesSince(renewsAt)).filter((type) => type.startsWith("checkout."))).toEqual([]);
  });

  test("is past due when the bank returns the debit; each try is another debit, until the schedule is over", async () => {
    const { session, subscription, invoice } = await subscribe("bank_debit_fails");
    await harness.advanceTo(answeredAt);
    expect(await read(session)).toMatchObject({ payment_status: "unpaid", invoice: { status: "open", attempt_count: 1 } });
    expect(await statusOf(subscription)).toBe("past_due");
    const types = await typesSince(answeredAt);
    expect(types.filter((type) => /^(charge|payment_intent|invoice.payment|checkout)/.test(type))).toEqual([
      "charge.failed",
      "payment_intent.payment_failed",
      "invoice.payment_failed",
      "checkout.session.async_payment_failed",
    ]);
    await harness.advanceTo(new Date("2026-02-04T12:00:00Z"));
    expect((await harness.stripe.charges.list()).data.map(({ status }) => status)).toEqual(["pending", "failed"]);
    expect(await harness.stripe.invoices.retrieve(invoice)).toMatchObject({ attempt_count: 2, next_payment_attempt: null });
    await harness.advanceTo(new Date("2026-02-25T00:00:00Z"));
    expect(await statusOf(subscription)).toBe("canceled");
    expect((await typesSince(start)).filter((type) => type.startsWith("checkout.session.async"))).toHaveLength(1);
  });

  test("stays active and its invoice is void, as Stripe's overview says", async () => {
    const { session, subscription } = await subscribe("bank_debit_voids");
    await harness.advanceTo(answeredAt);
    expect(await read(session)).toMatchObject({
      payment_status: "unpaid",
      invoice: { status: "void" },
      subscription: { status: "active" },
    });
    expect(await typesSince(answeredAt)).not.toContain("customer.subscription.updated");
    await harness.advanceTo(new Date("2026-02-20T00:00:00Z"));
    expect(await statusOf(subscription)).toBe("active");
  });

  test.each(["bank_debit", "bank_debit_fails"])("that is canceled while %s is on its way stays canceled", async (account) => {
    const { subscription, invoice } = await subscribe(account);
    await harness.stripe.subscriptions.cancel(subscription);
    await harness.advanceTo(new Date("2026-03-20T00:00:00Z"));
    expect(await statusOf(subscription)).toBe("canceled");
    expect((await harness.stripe.invoices.retrieve(invoice)).status).toBe(account === "bank_debit" ? "paid" : "open");
  });

  test("can't be paid again, given up or taken back while the debit is on its way", async () => {
    const { invoice } = await subscribe("bank_debit");
    const { invoices } = harness.stripe;
    for (const call of [
      invoices.pay(invoice),
      invoices.pay(invoice, { paid_out_of_band: true }),
      invoices.voidInvoice(invoice),
      invoices.markUncollectible(invoice),
    ])
      expect((await refusal(call)).code).toBe("payment_intent_unexpected_state");
    const { hosted_invoice_url: page } = await invoices.retrieve(invoice);
    expect(await (await fetch(String(page))).text()).toContain("A bank account is debited for this invoice");
    const again = await fetch(`${page}/pay`, { method: "POST", body: new URLSearchParams({ card: "success" }) });
    expect(again.status).toBe(400);
  });

  test("whose invoice a person pays by debit waits with the schedule, and goes on with it if the bank returns it", async () => {
    const { invoice, subscription } = await subscribe("bank_debit_fails");
    await harness.advanceTo(answeredAt);
    const { hosted_invoice_url: page } = await harness.stripe.invoices.retrieve(invoice);
    const paid = await fetch(`${page}/pay`, { method: "POST", redirect: "manual", body: new URLSearchParams({ card: "bank_debit" }) });
    expect(paid.status).toBe(303);
    await harness.advanceTo(new Date("2026-02-05T00:00:00Z"));
    expect((await harness.stripe.charges.list()).data).toHaveLength(2);
    await harness.advanceTo(new Date("2026-02-09T11:00:00Z"));
    expect([(await harness.stripe.invoices.retrieve(invoice)).status, await statusOf(subscription)]).toEqual(["paid", "active"]);
  });
});

test("the page offers two bank accounts beside the cards, and says that a debit is on its way", async () => {
  const price = await createPlan(harness.stripe, "Starter", 1999);
  const session = await createSession(harness, price.id);
  const page = async () => (await fetch(`${harness.address}/c/pay/${session.id}`)).text();
  expect(await page()).toMatch(/value="always_authentication"[\s\S]*value="bank_debit"[\s\S]*value="bank_debit_fails"/);
  await pay(harness, session.id, "bank_debit", false);
  expect(await page()).toContain("Your bank account is debited");
});

test("a saved bank account is refused where the sandbox plays only cards", async () => {
  const { subscription } = await subscribe("bank_debit");
  const { default_payment_method: account } = await harness.stripe.subscriptions.retrieve(subscription);
  const intent = await harness.stripe.paymentIntents.create({ amount: 500, currency: "usd", customer });
  const refused = await refusal(harness.stripe.paymentIntents.confirm(intent.id, { payment_method: String(account) }));
  expect(refused.message).toContain("The sandbox plays payment_method only as a card");
});
