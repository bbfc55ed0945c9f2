import type Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "#tests/support/until.ts";
import type { Harness } from "./stripe/harness.ts";
import { createPlan, createSession, pay, Receiver, startSandbox, subscribe } from "./stripe/harness.ts";

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

function seconds(iso: string): number {
  return Date.parse(iso) / 1000;
}

async function invoicesOf(subscription: string): Promise<Stripe.Invoice[]> {
  return (await harness.stripe.invoices.list({ subscription, limit: 100 })).data;
}

async function useCard(customer: string, subscription: string, card: string): Promise<void> {
  const method = await harness.stripe.paymentMethods.attach(card, { customer });
  await harness.stripe.customers.update(customer, { invoice_settings: { default_payment_method: method.id } });
  await harness.stripe.subscriptions.update(subscription, { default_payment_method: method.id });
}

describe("renewal", () => {
  test("the new period's invoice is a draft for an hour, then finalised and paid, each at its own instant", async () => {
    const { subscription } = await subscribe(harness);
    await harness.advanceTo(new Date("2026-02-28T10:30:00Z"));
    const renewed = await harness.stripe.subscriptions.retrieve(subscription.id);
    expect(renewed).toMatchObject({
      status: "active",
      items: { data: [{ current_period_start: seconds("2026-02-28T10:00:00Z"), current_period_end: seconds("2026-03-31T10:00:00Z") }] },
    });
    const draft = await harness.stripe.invoices.retrieve(String(renewed.latest_invoice));
    expect(draft).toMatchObject({
      status: "draft",
      billing_reason: "subscription_cycle",
      number: null,
      created: seconds("2026-02-28T10:00:00Z"),
      automatically_finalizes_at: seconds("2026-02-28T11:00:00Z"),
    });
    await harness.advanceTo(new Date("2026-03-05T00:00:00Z"));
    const paid = await harness.stripe.invoices.retrieve(draft.id);
    expect(paid).toMatchObject({
      status: "paid",
      status_transitions: { finalized_at: seconds("2026-02-28T11:00:00Z"), paid_at: seconds("2026-02-28T11:00:00Z") },
      lines: { data: [{ period: { start: seconds("2026-02-28T10:00:00Z"), end: seconds("2026-03-31T10:00:00Z") } }] },
    });
    const created = (await harness.stripe.events.list({ type: "invoice.*", created: { gte: seconds("2026-02-28T00:00:00Z") } })).data.map(
      (event) => [event.type, event.created],
    );
    expect(created.reverse()).toEqual([
      ["invoice.created", seconds("2026-02-28T10:00:00Z")],
      ["invoice.updated", seconds("2026-02-28T11:00:00Z")],
      ["invoice.finalized", seconds("2026-02-28T11:00:00Z")],
      ["invoice.updated", seconds("2026-02-28T11:00:00Z")],
      ["invoice.paid", seconds("2026-02-28T11:00:00Z")],
      ["invoice.payment_succeeded", seconds("2026-02-28T11:00:00Z")],
    ]);
  });

  test("a subscription from the 31st renews on each month's last day, leap years included, however far the clock jumps", async () => {
    const { subscription } = await subscribe(harness);
    await harness.advanceTo(new Date("2028-03-15T00:00:00Z"));
    const starts = (await invoicesOf(subscription.id))
      .map((invoice) => new Date((invoice.lines.data[0]?.period.start ?? 0) * 1000).toISOString().slice(0, 10))
      .reverse();
    expect(starts.slice(0, 4)).toEqual(["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]);
    expect(starts.slice(-3)).toEqual(["2027-12-31", "2028-01-31", "2028-02-29"]);
    expect(starts).toHaveLength(26);
  });

  test("an annual subscription from 29 February renews on 28 February, and on 29 February in the next leap year", async () => {
    harness.setNow(new Date("2028-02-29T08:00:00Z"));
    const price = await createPlan(harness.stripe, "Basic", 38_390, "year");
    const session = await createSession(harness, price.id, { customer_email: "leap@example.com" });
    await pay(harness, session.id, "success");
    await harness.advanceTo(new Date("2032-03-01T00:00:00Z"));
    const starts = (await harness.stripe.invoices.list({ limit: 100 })).data.map((invoice) =>
      new Date((invoice.lines.data[0]?.period.start ?? 0) * 1000).toISOString().slice(0, 10),
    );
    expect(starts.reverse()).toEqual(["2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"]);
  });

  test("an invoice paid during the retries, by a new card or by hand, makes the subscription active again and is charged once", async () => {
    const { subscription, customer } = await subscribe(harness);
    await useCard(customer, subscription.id, "pm_card_chargeCustomerFail");
    await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
    const [open] = await invoicesOf(subscription.id);
    await expect(harness.stripe.invoices.pay(String(open?.id))).rejects.toMatchObject({ type: "StripeCardError", code: "card_declined" });
    await useCard(customer, subscription.id, "pm_card_visa");
    expect(await harness.stripe.invoices.pay(String(open?.id))).toMatchObject({ status: "paid", amount_paid: 1999 });
    await expect(harness.stripe.invoices.pay(String(open?.id))).rejects.toThrow("already paid");
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ status: "active" });
    await harness.advanceTo(new Date("2026-03-30T00:00:00Z"));
    const charges = (await harness.stripe.charges.list({ customer })).data.filter((charge) => charge.paid);
    expect(charges).toHaveLength(2);
  });

  test("a voided invoice is not collected any more, and its subscription continues", async () => {
    const { subscription, customer } = await subscribe(harness);
    await useCard(customer, subscription.id, "pm_card_chargeCustomerFail");
    await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
    const [open] = await invoicesOf(subscription.id);
    expect(await harness.stripe.invoices.voidInvoice(String(open?.id))).toMatchObject({ status: "void" });
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ status: "active" });
    await harness.advanceTo(new Date("2026-03-20T00:00:00Z"));
    expect((await invoicesOf(subscription.id))[0]).toMatchObject({ attempt_count: 1, status: "void" });
  });
});

describe("changes", () => {
  test("a cancellation at the period's end can be withdrawn; otherwise the subscription ends then without another invoice", async () => {
    const { subscription } = await subscribe(harness);
    expect(await harness.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })).toMatchObject({
      status: "active",
      cancel_at: seconds("2026-02-28T10:00:00Z"),
    });
    expect(await harness.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: false })).toMatchObject({
      cancel_at: null,
      canceled_at: null,
    });
    await harness.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
    await harness.advanceTo(new Date("2026-04-01T00:00:00Z"));
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
      status: "canceled",
      ended_at: seconds("2026-02-28T10:00:00Z"),
    });
    expect(await invoicesOf(subscription.id)).toHaveLength(1);
  });

  test("an immediate cancellation ends the subscription at once, and a second one is refused", async () => {
    const { subscription } = await subscribe(harness);
    expect(await harness.stripe.subscriptions.cancel(subscription.id)).toMatchObject({ status: "canceled" });
    await expect(harness.stripe.subscriptions.cancel(subscription.id)).rejects.toMatchObject({ code: "resource_missing", statusCode: 404 });
    expect((await harness.stripe.subscriptions.list()).data).toHaveLength(0);
    expect((await harness.stripe.subscriptions.list({ status: "all" })).data).toHaveLength(1);
  });

  async function schedulePlan(
    subscription: Stripe.Subscription,
    price: string,
    anchor: Pick<Stripe.SubscriptionScheduleUpdateParams.Phase, "billing_cycle_anchor"> = {},
  ): Promise<Stripe.SubscriptionSchedule> {
    const schedule = await harness.stripe.subscriptionSchedules.create({ from_subscription: subscription.id });
    const current = schedule.phases[0];
    if (!current) throw new Error("the schedule has no phase");
    return harness.stripe.subscriptionSchedules.update(schedule.id, {
      end_behavior: "release",
      phases: [
        { items: [{ price: String(current.items[0]?.price), quantity: 1 }], start_date: current.start_date, end_date: current.end_date },
        {
          ...anchor,
          items: [{ price, quantity: 1 }],
          duration: { interval: "month" },
          proration_behavior: "none",
          metadata: { plan: "basic" },
        },
      ],
    });
  }

  test("a scheduled plan starts at the renewal and keeps the anchor; the schedule is then released", async () => {
    const { subscription } = await subscribe(harness);
    const basic = await createPlan(harness.stripe, "Basic", 3999);
    const schedule = await schedulePlan(subscription, basic.id);
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
      schedule: schedule.id,
      items: { data: [{ price: { unit_amount: 1999 } }] },
    });
    await expect(harness.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })).rejects.toThrow(
      "managed by the subscription schedule",
    );
    await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
      metadata: { plan: "basic" },
      items: { data: [{ price: { id: basic.id }, current_period_end: seconds("2026-03-31T10:00:00Z") }] },
    });
    expect((await invoicesOf(subscription.id)).map((invoice) => invoice.total)).toEqual([3999, 1999]);
    await harness.advanceTo(new Date("2026-04-01T00:00:00Z"));
    expect(await harness.stripe.subscriptionSchedules.retrieve(schedule.id)).toMatchObject({
      status: "released",
      released_subscription: subscription.id,
    });
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
      schedule: null,
      status: "active",
      items: { data: [{ price: { id: basic.id } }] },
    });
  });

  test("a change from monthly to annual is billed at the renewal, which becomes the new anchor", async () => {
    const { subscription } = await subscribe(harness);
    const annual = await createPlan(harness.stripe, "Basic", 38_390, "year");
    await schedulePlan(subscription, annual.id, { billing_cycle_anchor: "phase_start" });
    await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({
      billing_cycle_anchor: seconds("2026-02-28T10:00:00Z"),
      items: { data: [{ current_period_end: seconds("2027-02-28T10:00:00Z") }] },
    });
    expect((await invoicesOf(subscription.id)).map((invoice) => invoice.total)).toEqual([38_390, 1999]);
  });

  test("a released schedule changes nothing, and the subscription can then be cancelled", async () => {
    const { subscription } = await subscribe(harness);
    const basic = await createPlan(harness.stripe, "Basic", 3999);
    const schedule = await schedulePlan(subscription, basic.id);
    await harness.stripe.subscriptionSchedules.release(schedule.id);
    await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
    expect((await invoicesOf(subscription.id)).map((invoice) => invoice.total)).toEqual([1999, 1999]);
    expect(await harness.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })).toMatchObject({
      cancel_at_period_end: true,
    });
  });

  test("the portal names what comes next: another plan, or another price of the same one", async () => {
    const { subscription, customer, price } = await subscribe(harness);
    const portal = await harness.stripe.billingPortal.sessions.create({ customer, return_url: "http://127.0.0.1:3000/profile" });
    const shown = async (): Promise<string> => (await fetch(portal.url)).text();
    const yearly = { currency: "usd", unit_amount: 19_190, recurring: { interval: "year" as const } };
    const { id } = await harness.stripe.prices.create({ ...yearly, product: String(price.product) });
    const schedule = await schedulePlan(subscription, id, { billing_cycle_anchor: "phase_start" });
    expect(await shown()).toContain("From February 28, 2026 on $191.90 a year.");
    await harness.stripe.subscriptionSchedules.release(schedule.id);
    await schedulePlan(subscription, (await createPlan(harness.stripe, "Basic", 3999)).id);
    expect(await shown()).toContain("Changes to Basic on February 28, 2026, then $39.99 a month.");
  });

  test("the portal cancels, resumes, switches the card and pays an open invoice", async () => {
    const { subscription, customer } = await subscribe(harness);
    const portal = await harness.stripe.billingPortal.sessions.create({ customer, return_url: "http://127.0.0.1:3000/profile" });
    const act = (action: string, fields: Record<string, string>): Promise<Response> =>
      fetch(`${portal.url}/${action}`, { method: "POST", redirect: "manual", body: new URLSearchParams(fields) });
    const shown = async (): Promise<string> => (await fetch(portal.url)).text();
    expect(await shown()).toContain("Renews on February 28, 2026");
    await act("cancel", { target: subscription.id });
    expect(await shown()).toContain("Ends on February 28, 2026");
    await act("resume", { target: subscription.id });
    await act("card", { card: "declined" });
    expect(await shown()).toContain("Renewals will be declined.");
    await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
    const [open] = await invoicesOf(subscription.id);
    expect((await act("pay", { target: String(open?.id) })).headers.get("location")).toContain("?declined");
    await act("card", { card: "success" });
    await act("pay", { target: String(open?.id) });
    expect(await harness.stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ status: "active" });
    await until(() => harness.sandbox.pendingDeliveries() === 0, "all webhooks delivered");
    expect(receiver.types()).toEqual(expect.arrayContaining(["billing_portal.session.created", "invoice.payment_failed", "invoice.paid"]));
  });
});
