/** Mails about a renewal, each sent once: before it, that it was paid, that it failed, that it was paid at last, that the plan is over. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plans, priceCents } from "#domain/plans.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { tellOfRenewals } from "#server/features/billing/renewal-notices.ts";
import { endGracePeriods } from "#server/features/billing/schedules.ts";
import { stripePriceOf } from "#server/features/billing/stripe-catalogue.ts";
import { dueInstants } from "#server/features/clock/service.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { deliver } from "../support/billing-world.ts";
import { customerOf } from "../support/payers.ts";

let world: BillingWorld;
let person: Person;
const renewed = new Date("2026-02-28T13:00:00Z");

beforeEach(async () => {
  world = await startBillingWorld({}, new Date("2026-01-31T12:00:00Z"));
  person = await world.person();
});
afterEach(() => world.close());

const mails = () => world.database.db.selectFrom("mails").select(["template", "language", "parameters", "key"]).orderBy("id").execute();
const templates = async () => (await mails()).map(({ template }) => template);
const lastMail = async () => {
  const mail = (await mails()).at(-1);
  return { ...mail, parameters: mail?.parameters as Record<string, string | number> };
};
const check = async () => (await world.post("/api/functions/reliable-subscription-check", person)).json();

async function buy(priceId = "starter_month"): Promise<string> {
  await world.buy(person, priceId);
  await world.settle();
  const { data } = await world.deps.payments.subscriptions.list({ customer: await customerOf(world.database.db, person.userId) });
  return String(data[0]?.id);
}

async function useCard(subscription: string, card: string): Promise<void> {
  const customer = await customerOf(world.database.db, person.userId);
  const method = await world.deps.payments.paymentMethods.attach(card, { customer });
  await world.deps.payments.subscriptions.update(subscription, { default_payment_method: method.id });
  await world.settle();
}

/** The only link of the newest mail, as its reader follows it. */
async function followMail(): Promise<{ status: number; location: string | undefined }> {
  const { template = "", language = "", parameters } = await lastMail();
  const { html } = renderMail(world.deps.config, { template, language, parameters });
  const address = new URL(/class="action" href="([^"]+)"/.exec(html)?.[1]?.replaceAll("&#38;", "&") ?? "");
  const response = await world.app.inject({ method: "GET", url: `${address.pathname}${address.search}` });
  return { status: response.statusCode, location: response.headers.location };
}

/** A person at the payment provider's page. */
async function payAt(page: string, card: string): Promise<void> {
  const post = (path: string, body: object) =>
    fetch(`${page}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "manual",
    });
  expect((await post("pay", { card })).status).toBe(303);
  if (card === "authentication") expect((await post("authenticate", { step: "approve" })).status).toBe(303);
}

describe("a renewal", () => {
  test("that is paid is told once, with its amount, the credits and the next payment", async () => {
    await buy();
    await world.moveTo(renewed);
    expect(await templates()).toEqual(["subscription-started", "plan-renewed"]);
    expect((await lastMail()).parameters).toEqual({
      ...{ plan: "starter", amountCents: 1999, credits: 300, priceCents: 1999 },
      renewsAt: "2026-03-31T12:00:00.000Z",
    });
  });

  test("that Stripe bills for another reason, because the plan changed, is told as well", async () => {
    const subscription = await buy();
    const { payments } = world.deps;
    const item = (await payments.subscriptions.retrieve(subscription)).items.data[0]?.id ?? "";
    const price = await stripePriceOf(world.deps, "starter_year");
    await payments.subscriptions.update(subscription, { items: [{ id: item, price }], proration_behavior: "none" });
    const [invoice] = (await payments.invoices.list({ subscription, limit: 1 })).data;
    expect(invoice).toMatchObject({ billing_reason: "subscription_update", status: "paid" });
    await world.settle();
    expect(await templates()).toEqual(["subscription-started", "plan-renewed"]);
    expect((await lastMail()).parameters).toMatchObject({
      amountCents: priceCents(plans.starter, "year"),
      renewsAt: "2027-01-31T12:00:00.000Z",
    });
  });

  test("whose events all come ten times at once, and in any order, is told once", async () => {
    const subscription = await buy();
    await useCard(subscription, "pm_card_chargeCustomerFail");
    await world.moveTo(renewed, { bringing: false });
    const storm = async () => {
      const events = (await world.takeEvents()).reverse();
      await Promise.all(events.flatMap((event) => Array.from({ length: 10 }, () => deliver(world, JSON.stringify(event)))));
      const jobs = events.flatMap((event) => Array.from({ length: 3 }, () => processStripeEvent(world.deps, event.id)));
      await Promise.allSettled(jobs);
      for (const event of events) await processStripeEvent(world.deps, event.id);
    };
    await storm();
    expect(await templates()).toEqual(["subscription-started", "payment-failed"]);
    await payAt(String((await followMail()).location), "success");
    await storm();
    expect(await templates()).toEqual(["subscription-started", "payment-failed", "payment-recovered"]);
  });

  test("that fails is told with the amount and one link, which leads to paying without a sign-in; once paid, to one's own invoices", async () => {
    const subscription = await buy();
    await useCard(subscription, "pm_card_chargeCustomerFail");
    await world.moveTo(renewed);
    expect((await lastMail()).parameters).toMatchObject({ amountCents: 1999, graceUntil: "2026-03-07T13:00:00.000Z" });
    const { invoiceId } = (await lastMail()).parameters;
    expect((await check()).unpaid).toEqual({
      ...{ invoiceId, amountCents: 1999, needsAction: false, processing: false },
      until: "2026-03-07T13:00:00.000Z",
    });
    const { status, location } = await followMail();
    expect([status, new URL(String(location)).pathname]).toEqual([303, `/i/${invoiceId}`]);
    world.setApiFaults([{ kind: "server_error", path: "/v1/invoices", count: 9 }]);
    expect((await followMail()).location).toBe("/profile/billing");
    world.setApiFaults([]);
    const failedLink = await lastMail();
    await payAt(String(location), "success");
    world.pushed.length = 0;
    await world.settle();
    // The person's open pages hear of it, so that the notice goes from them.
    await expect.poll(() => world.pushed.map(({ userId, table }) => `${userId} ${table}`)).toContain(`${person.userId} user_subscriptions`);
    expect((await lastMail()).template).toBe("payment-recovered");
    expect((await lastMail()).parameters).toMatchObject({ amountCents: 1999, credits: 300 });
    expect(await check()).not.toHaveProperty("unpaid");
    const { template = "", language = "", parameters } = failedLink;
    const { text } = renderMail(world.deps.config, { template, language, parameters });
    const again = new URL(/https?:\S+pay\?\S+/.exec(text)?.[0] ?? "");
    const response = await world.app.inject({ method: "GET", url: `${again.pathname}${again.search}` });
    expect([response.statusCode, response.headers.location]).toEqual([303, "/profile/billing"]);
  });

  test("for which the bank asks leads to confirming, in the mail and on the pages, and goes on once it is confirmed", async () => {
    const subscription = await buy();
    await useCard(subscription, "pm_card_authenticationRequired");
    await world.moveTo(renewed);
    expect((await lastMail()).parameters).toMatchObject({ variant: "action", amountCents: 1999 });
    expect((await check()).unpaid).toMatchObject({ needsAction: true });
    const { location } = await followMail();
    await payAt(String(location), "authentication");
    await world.settle();
    expect((await lastMail()).template).toBe("payment-recovered");
    expect(await check()).toMatchObject({ status: "active", credits: 300 });
  });

  test("a link that we did not make leads nowhere but to one's own invoices", async () => {
    const subscription = await buy();
    await useCard(subscription, "pm_card_chargeCustomerFail");
    await world.moveTo(renewed);
    const { invoiceId } = (await lastMail()).parameters;
    const forged = `${Buffer.from(String(invoiceId)).toString("base64url")}.${"A".repeat(43)}`;
    for (const token of [forged, "", "x.y.z", String(invoiceId)]) {
      const response = await world.app.inject({ method: "GET", url: `/api/billing/pay?invoice=${encodeURIComponent(token)}` });
      expect([response.statusCode, response.headers.location], token).toEqual([303, "/profile/billing"]);
    }
  });
});

describe("the end of a plan", () => {
  test("is told once when the days of grace are over, though Stripe goes on retrying", async () => {
    const subscription = await buy();
    await useCard(subscription, "pm_card_chargeCustomerFail");
    await world.moveTo(new Date("2026-03-08T00:00:00Z"));
    expect(await templates()).toEqual(["subscription-started", "payment-failed", "plan-ended"]);
    expect((await lastMail()).parameters).toEqual({ plan: "starter", endedAt: "2026-03-07T13:00:00.000Z", variant: "unpaid" });
    expect(await check()).not.toHaveProperty("unpaid");
    await world.moveTo(new Date("2026-04-30T00:00:00Z"));
    expect(await templates()).toHaveLength(3);
  });

  test("is told once when Stripe had given up before we could end it, and nothing is left to pay", async () => {
    const subscription = await buy();
    await useCard(subscription, "pm_card_chargeCustomerFail");
    await world.moveTo(renewed);
    const unpaid = String((await followMail()).location);
    await world.moveTo(new Date("2026-03-21T13:00:00Z"), { bringing: false });
    await Promise.all([endGracePeriods(world.deps, world.clock.now()), world.settle()]);
    expect(await templates()).toEqual(["subscription-started", "payment-failed", "plan-ended"]);
    expect((await lastMail()).parameters).toMatchObject({ endedAt: "2026-03-14T13:00:00.000Z", variant: "unpaid" });
    expect(await (await fetch(unpaid)).text()).toContain("Nothing is owed");
  });

  test("that the person chose is told on its day", async () => {
    const subscription = await buy();
    await world.deps.payments.subscriptions.update(subscription, { cancel_at_period_end: true });
    await world.settle();
    await world.moveTo(new Date("2026-03-01T00:00:00Z"));
    expect((await lastMail()).template).toBe("plan-ended");
    expect((await lastMail()).parameters).toEqual({ plan: "starter", endedAt: "2026-02-28T12:00:00.000Z" });
  });
});

describe("a yearly renewal", () => {
  const notice = new Date("2026-12-27T12:00:00Z");

  test("is announced 35 days ahead, once, with its day and its price", async () => {
    await buy("starter_year");
    expect((await dueInstants(world.deps.db))["renewal-notices"]).toEqual(notice);
    world.clock.moveTo(new Date(notice.getTime() - 1));
    expect(await tellOfRenewals(world.deps, world.clock.now())).toBe(0);
    world.clock.moveTo(notice);
    await Promise.all([1, 2, 3].map(() => tellOfRenewals(world.deps, world.clock.now())));
    expect(await templates()).toEqual(["subscription-started", "renewal-ahead"]);
    expect((await lastMail()).parameters).toEqual({
      ...{ plan: "starter", interval: "year", priceCents: 19190 },
      renewsAt: "2027-01-31T12:00:00.000Z",
    });
    // Further writes to the subscription don't send this period's notice again.
    await world.settle();
    expect(await tellOfRenewals(world.deps, new Date("2027-01-30T12:00:00Z"))).toBe(0);
    expect((await dueInstants(world.deps.db))["renewal-notices"]).toBeNull();
  });

  test("names what will be charged, less a discount that lasts", async () => {
    const { payments } = world.deps;
    // A person of whom Stripe knows, at a checkout that support made with a coupon.
    await world.checkout(person, "starter_year");
    const { data: prices } = await payments.prices.list({ lookup_keys: ["starter_year"] });
    const { id: coupon } = await payments.coupons.create({ percent_off: 10, duration: "forever" });
    const { url } = await payments.checkout.sessions.create({
      mode: "subscription",
      customer: await customerOf(world.database.db, person.userId),
      line_items: [{ price: prices[0]?.id ?? "", quantity: 1 }],
      success_url: "https://tessera.example/",
      discounts: [{ coupon }],
    });
    await world.pay(url ?? "");
    await world.settle();
    expect((await lastMail()).parameters).toMatchObject({ amountCents: 17271, priceCents: 17271 });
    world.clock.moveTo(notice);
    await tellOfRenewals(world.deps, world.clock.now());
    expect((await lastMail()).parameters).toMatchObject({ interval: "year", priceCents: 17271 });
    await world.moveTo(new Date("2027-02-01T12:00:00Z"));
    expect((await lastMail()).template).toBe("plan-renewed");
    expect((await lastMail()).parameters).toMatchObject({ amountCents: 17271, priceCents: 17271 });
  });

  test("into another yearly plan says so", async () => {
    await buy("starter_year");
    const preview = (await world.post("/api/billing/plan-change/preview", person, { priceId: "basic_year" })).json();
    const { effectiveAt, amountCents } = preview;
    expect((await world.post("/api/billing/plan-change", person, { priceId: "basic_year", effectiveAt, amountCents })).statusCode).toBe(
      200,
    );
    await world.settle();
    world.clock.moveTo(notice);
    await tellOfRenewals(world.deps, world.clock.now());
    expect((await lastMail()).parameters).toMatchObject({ plan: "basic", interval: "year", priceCents: 38390, variant: "change" });
  });

  test("that was missed by a worker that was off is announced late, as long as it is ahead", async () => {
    await buy("starter_year");
    world.clock.moveTo(new Date("2027-01-29T12:00:00Z"));
    expect(await tellOfRenewals(world.deps, world.clock.now())).toBe(1);
    expect(await tellOfRenewals(world.deps, world.clock.now())).toBe(0);
  });

  test("that is cancelled is not announced, and neither is a monthly one", async () => {
    const subscription = await buy("starter_year");
    await world.deps.payments.subscriptions.update(subscription, { cancel_at_period_end: true });
    await world.settle();
    const other = await world.person();
    await world.buy(other, "basic_month");
    await world.settle();
    expect((await dueInstants(world.deps.db))["renewal-notices"]).toBeNull();
    expect(await tellOfRenewals(world.deps, new Date("2027-01-29T12:00:00Z"))).toBe(0);
  });
});
