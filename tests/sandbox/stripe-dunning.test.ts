/** What Stripe does about a renewal that is not paid: its schedule of tries, authentication, and the page that the customer pays on. */
import type Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Harness } from "./stripe/harness.ts";
import { pay, Receiver, startSandbox, subscribe } from "./stripe/harness.ts";

let harness: Harness;
let receiver: Receiver;
let customer: string;
let subscription: string;

beforeEach(async () => {
  receiver = new Receiver();
  harness = await startSandbox({ webhookPort: await receiver.listen(), now: new Date("2026-01-31T10:00:00Z") });
  const bought = await subscribe(harness);
  customer = bought.customer;
  subscription = bought.subscription.id;
});

afterEach(async () => {
  await harness.close();
  await receiver.close();
});

const seconds = (iso: string): number => Date.parse(iso) / 1000;
const afterRenewal = new Date("2026-02-28T12:00:00Z");

async function useCard(card: string): Promise<string> {
  const method = await harness.stripe.paymentMethods.attach(card, { customer });
  await harness.stripe.customers.update(customer, { invoice_settings: { default_payment_method: method.id } });
  await harness.stripe.subscriptions.update(subscription, { default_payment_method: method.id });
  return method.id;
}

async function newest(): Promise<Stripe.Invoice> {
  const [invoice] = (await harness.stripe.invoices.list({ subscription, expand: ["data.payments"] })).data;
  if (!invoice) throw new Error("there is no invoice");
  return invoice;
}

async function intentOf(invoice: Stripe.Invoice): Promise<Stripe.PaymentIntent> {
  return harness.stripe.paymentIntents.retrieve(String(invoice.payments?.data[0]?.payment.payment_intent));
}

const delinquent = async () => ((await harness.stripe.customers.retrieve(customer)) as Stripe.Customer).delinquent;
const statusOf = async () => (await harness.stripe.subscriptions.retrieve(subscription)).status;

async function typesSince(iso: string): Promise<string[]> {
  return (await harness.stripe.events.list({ limit: 100, created: { gte: seconds(iso) } })).data.map((event) => event.type).reverse();
}

/** Sends a form of the invoice's page and returns the page that follows. */
async function onPage(invoice: Stripe.Invoice, action: string, fields: Record<string, string>): Promise<string> {
  const response = await fetch(`${invoice.hosted_invoice_url}/${action}`, { method: "POST", body: new URLSearchParams(fields) });
  expect(response.status).toBe(200);
  return response.text();
}
const shown = async (invoice: Stripe.Invoice) => (await fetch(String(invoice.hosted_invoice_url))).text();

describe("a card that is declined", () => {
  beforeEach(async () => {
    await useCard("pm_card_chargeCustomerFail");
    await harness.advanceTo(afterRenewal);
  });

  test("is tried eight more times within two weeks; then the subscription ends and its invoice stays open", async () => {
    expect(await newest()).toMatchObject({ status: "open", attempt_count: 1, next_payment_attempt: seconds("2026-03-01T11:00:00Z") });
    expect([await statusOf(), await delinquent()]).toEqual(["past_due", true]);
    await harness.advanceTo(new Date("2026-03-20T00:00:00Z"));
    expect(await harness.stripe.subscriptions.retrieve(subscription)).toMatchObject({
      status: "canceled",
      ended_at: seconds("2026-03-14T11:00:00Z"),
      cancellation_details: { reason: "payment_failed" },
    });
    const failed = (await harness.stripe.events.list({ type: "invoice.payment_failed" })).data;
    expect(failed).toHaveLength(9);
    expect(await newest()).toMatchObject({ status: "open", attempt_count: 9, next_payment_attempt: null, auto_advance: false });
    expect(harness.sandbox.nextDueAt()).toBeNull();
  });

  test("leaves the schedule and its count alone when the customer tries by hand, and paying clears the debt", async () => {
    const before = await newest();
    await expect(harness.stripe.invoices.pay(before.id)).rejects.toMatchObject({ code: "card_declined" });
    const { attempt_count, next_payment_attempt } = before;
    expect(await newest()).toMatchObject({ attempt_count, next_payment_attempt });
    await useCard("pm_card_visa");
    expect(await harness.stripe.invoices.pay(before.id)).toMatchObject({ status: "paid", attempt_count });
    expect([await statusOf(), await delinquent()]).toEqual(["active", false]);
  });
});

test("without any card no try is made; one that is there for a later try is charged", async () => {
  const [saved] = (await harness.stripe.customers.listPaymentMethods(customer)).data;
  await harness.stripe.paymentMethods.detach(String(saved?.id));
  await harness.stripe.subscriptions.update(subscription, { default_payment_method: "" });
  await harness.advanceTo(new Date("2026-03-03T12:00:00Z"));
  expect(await newest()).toMatchObject({ status: "open", attempt_count: 3, next_payment_attempt: seconds("2026-03-04T11:00:00Z") });
  const types = await typesSince("2026-02-28T00:00:00Z");
  expect(types.filter((type) => type === "invoice.payment_failed")).toHaveLength(1);
  expect(types.filter((type) => type.startsWith("charge."))).toEqual([]);
  await useCard("pm_card_visa");
  await harness.advanceTo(new Date("2026-03-04T12:00:00Z"));
  expect(await newest()).toMatchObject({ status: "paid", attempt_count: 4 });
});

describe("a card whose bank asks at each payment", () => {
  let invoice: Stripe.Invoice;

  beforeEach(async () => {
    await useCard("pm_card_authenticationRequired");
    await harness.advanceTo(afterRenewal);
    invoice = await newest();
  });

  test("fails at the renewal with authentication_required, and is not tried again by itself", async () => {
    expect(await intentOf(invoice)).toMatchObject({
      status: "requires_payment_method",
      last_payment_error: {
        code: "authentication_required",
        decline_code: "authentication_required",
        payment_method: { card: { last4: "3184" } },
      },
    });
    const types = await typesSince("2026-02-28T11:00:00Z");
    expect(types).toEqual(expect.arrayContaining(["charge.failed", "invoice.payment_failed", "invoice.payment_action_required"]));
    expect(await statusOf()).toBe("past_due");
    await expect(harness.stripe.invoices.pay(invoice.id)).rejects.toMatchObject({ statusCode: 402, code: "authentication_required" });
    const charges = (await harness.stripe.charges.list({ customer })).data.length;
    await harness.advanceTo(new Date("2026-03-03T12:00:00Z"));
    expect((await harness.stripe.charges.list({ customer })).data).toHaveLength(charges);
    expect(await newest()).toMatchObject({ attempt_count: 3, status: "open" });
    await harness.advanceTo(new Date("2026-03-20T12:00:00Z"));
    expect(await statusOf()).toBe("canceled");
  });

  test("pays on the invoice's page once its holder has answered, and renews the subscription", async () => {
    expect(await shown(invoice)).toContain("•••• 3184");
    expect(await onPage(invoice, "pay", { card: "saved" })).toContain("Your bank asks");
    expect(await onPage(invoice, "authenticate", { step: "refuse" })).toContain("could not authenticate");
    expect((await intentOf(invoice)).last_payment_error).toMatchObject({ code: "payment_intent_authentication_failure" });
    await onPage(invoice, "pay", { card: "saved" });
    expect(await onPage(invoice, "authenticate", { step: "approve" })).toContain("This invoice is paid");
    expect([await statusOf(), (await newest()).status]).toEqual(["active", "paid"]);
    expect(await onPage(invoice, "pay", { card: "success" })).toContain("This invoice is paid");
    expect((await harness.stripe.charges.list({ customer })).data.filter((charge) => charge.paid)).toHaveLength(2);
  });

  test("gives way to another card on the invoice's page; a declined one is told of, and the subscription keeps its own", async () => {
    expect(await onPage(invoice, "pay", { card: "declined" })).toContain("Your card was declined");
    expect(await onPage(invoice, "pay", { card: "success" })).toContain("This invoice is paid");
    const renewed = await harness.stripe.subscriptions.retrieve(subscription, { expand: ["default_payment_method"] });
    expect(renewed).toMatchObject({ status: "active", default_payment_method: { card: { last4: "3184" } } });
  });

  test("can't pay an invoice that was taken back", async () => {
    await harness.stripe.invoices.voidInvoice(invoice.id);
    expect(await shown(invoice)).toContain("Nothing is owed");
    const refused = await fetch(`${invoice.hosted_invoice_url}/pay`, { method: "POST", body: new URLSearchParams({ card: "saved" }) });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("can no longer be paid")]);
  });

  test("is in the portal, whose invoices lead to their pages", async () => {
    const portal = await harness.stripe.billingPortal.sessions.create({ customer });
    const page = await (await fetch(portal.url)).text();
    expect(page).toContain(`href="${invoice.hosted_invoice_url}"`);
    expect(page).toContain("The bank will ask you at each renewal");
  });
});

test("the checkout offers the card, asks its holder, and sells with it", async () => {
  const { price } = await subscribe(harness);
  const session = await harness.stripe.checkout.sessions.create({
    mode: "subscription",
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: "http://127.0.0.1:3000/profile",
  });
  expect(await (await fetch(String(session.url))).text()).toContain("•••• 3184");
  expect((await pay(harness, session.id, "always_authentication", false)).headers.get("location")).toBe(`/c/pay/${session.id}`);
  expect(await (await fetch(String(session.url))).text()).toContain("card ending in 3184");
  await fetch(`${harness.address}/checkout/${session.id}/pay`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ step: "approve" }),
  });
  expect(await harness.stripe.checkout.sessions.retrieve(session.id)).toMatchObject({ status: "complete", payment_status: "paid" });
});

test("an intent that the API confirms leads to the bank's page, and back with the outcome", async () => {
  const create = () =>
    harness.stripe.paymentIntents.create({
      amount: 500,
      currency: "usd",
      confirm: true,
      payment_method: "pm_card_authenticationRequired",
      return_url: "http://127.0.0.1:3000/back",
    });
  for (const [step, status, outcome] of [
    ["approve", "succeeded", "succeeded"],
    ["refuse", "requires_payment_method", "failed"],
  ]) {
    const intent = await create();
    const page = String(intent.next_action?.redirect_to_url?.url);
    expect(await (await fetch(page)).text()).toContain("card ending in 3184");
    const answered = await fetch(page, { method: "POST", redirect: "manual", body: new URLSearchParams({ step: String(step) }) });
    const back = new URL(String(answered.headers.get("location")));
    expect([back.pathname, back.searchParams.get("redirect_status")]).toEqual(["/back", outcome]);
    expect((await harness.stripe.paymentIntents.retrieve(intent.id)).status).toBe(status);
    expect((await fetch(page)).status).toBe(400);
  }
});
