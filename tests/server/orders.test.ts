/** An order: no checkout without consent, one kept consent for each checkout, and one mail that confirms the contract. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { CampaignResults } from "#contract/billing/campaigns.ts";
import type { Consent } from "#contract/billing/orders.ts";
import { dayMs } from "#domain/clock.ts";
import { orderTexts } from "#domain/orders.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import { sweepRetention } from "#server/features/retention/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { payerIdOf } from "../support/payers.ts";
import { chargeOf, decideDispute, openDispute } from "../support/returns.ts";

const start = new Date("2026-03-10T09:30:00Z");
const planPath = "/api/functions/create-checkout";
const packPath = "/api/billing/packs/checkout";
/** The discount on the first period for people who have never paid. */
const percent = 20;
let world: BillingWorld;

async function campaign(off: number): Promise<void> {
  const times = { starts_at: start, ends_at: new Date(start.getTime() + 90 * dayMs), created_at: world.clock.now() };
  await world.database.db
    .insertInto("discount_campaigns")
    .values({ percent: off, ...times })
    .execute();
}

beforeAll(async () => {
  world = await startBillingWorld({}, start);
  await campaign(percent);
});
afterEach(() => world.endPlans());
afterAll(() => world.close());

const order = (person: Person, consent?: Partial<Consent>, priceId = "starter_month") =>
  world.post(planPath, person, { priceId, ...(consent && { consent: { ...consentTo(priceId, percent), ...consent } }) });
const preview = (person: Person, priceId: string) => world.post("/api/billing/order/preview", person, { priceId });
const sessionOf = (url: string) => new URL(url).pathname.split("/").at(-1) ?? "";

async function ordersOf(person: Person) {
  const payerId = await payerIdOf(world.database.db, person.userId);
  return world.database.db.selectFrom("orders").selectAll().where("billing_account_id", "=", payerId).orderBy("id").execute();
}

async function mailsOf({ email }: Person, template: string) {
  const { db } = world.database;
  return db.selectFrom("mails").selectAll().where("recipient", "=", email).where("template", "=", template).execute();
}

async function subscriber(): Promise<Person> {
  const person = await world.person();
  await world.buy(person);
  await world.settle();
  return person;
}

describe("an order is refused, and nothing is kept or opened,", () => {
  test.each([
    ["without a consent", undefined, "consent_required", 400],
    ["unless the person asks us to begin at once", { beginAtOnce: false }, "consent_required", 400],
    ["if the person saw another price", { amountCents: 999 }, "preview_outdated", 409],
    ["if the person saw other terms", { terms: "2024-01-31" }, "preview_outdated", 409],
    ["if the person saw another withdrawal notice", { withdrawal: "2024-01-31" }, "preview_outdated", 409],
  ])("%s", async (_when, consent, code, status) => {
    const person = await world.person();
    expect((await order(person, consent)).json()).toMatchObject({ code, status });
    expect(await ordersOf(person)).toEqual([]);
    expect(await world.database.db.selectFrom("checkouts").select("id").where("user_id", "=", person.userId).execute()).toEqual([]);
    const buyer = await subscriber();
    const pack = { pack: "pack_100", ...(consent && { consent: { ...consentTo("pack_100"), ...consent } }) };
    expect((await world.post(packPath, buyer, pack)).json()).toMatchObject({ code, status });
    expect(await ordersOf(buyer)).toHaveLength(1);
  });
});

describe("the preview", () => {
  test("says what a plan costs first and later, what it gives, and until when", async () => {
    const person = await world.person();
    expect((await preview(person, "basic_month")).json()).toEqual({
      subject: { kind: "plan", plan: "basic", interval: "month" },
      credits: 600,
      currency: "usd",
      amountCents: 3199,
      laterCents: 3999,
      tax: null,
      until: "2026-04-10T09:30:00.000Z",
      ...orderTexts,
    });
    expect((await preview(person, "basic_year")).json()).toMatchObject({ amountCents: 30_712, laterCents: 38_390, until: /^2027-03-10/ });
  });

  test("says what a pack costs, and that it is not renewed", async () => {
    expect((await preview(await subscriber(), "pack_250")).json()).toMatchObject({
      subject: { kind: "pack", credits: 250 },
      amountCents: 1799,
      laterCents: null,
      until: "2027-03-10T09:30:00.000Z",
    });
  });

  test.each([
    ["nothing", "unknown_price"],
    ["pack_100", "subscription_required"],
  ])("of %j is refused as %s to somebody without a plan", async (priceId, code) => {
    expect((await preview(await world.person(), priceId)).json()).toMatchObject({ code });
  });

  test("of a plan is refused to a subscriber", async () => {
    expect((await preview(await subscriber(), "basic_month")).json()).toMatchObject({ code: "already_subscribed" });
  });
});

describe("the consent is kept", () => {
  test("once, however often the button is clicked, and says what was ordered, when, and which texts were accepted", async () => {
    const person = await world.person();
    const answers = await Promise.all([1, 2, 3].map(() => order(person, { language: "de-AT" })));
    const urls = new Set(answers.map((answer) => answer.json().url));
    expect([answers.map(({ statusCode }) => statusCode), urls.size]).toEqual([[200, 200, 200], 1]);
    const [checkout] = await world.database.db.selectFrom("checkouts").selectAll().where("user_id", "=", person.userId).execute();
    expect(await ordersOf(person)).toEqual([
      {
        id: checkout?.id,
        billing_account_id: await payerIdOf(world.database.db, person.userId),
        price_id: "starter_month",
        amount_cents: 1599,
        later_cents: 1999,
        currency: "usd",
        credits: 300,
        language: "de",
        ...orderTexts,
        consented_at: world.clock.now(),
        stripe_session_id: null,
        stripe_subscription_id: null,
        contract_id: null,
        concluded_at: null,
      },
    ]);
    const session = await world.deps.payments.checkout.sessions.retrieve(checkout?.stripe_session_id ?? "");
    expect(session.amount_total).toBe(1599);
  });

  test("with the subscription that it led to, and the mail confirms it once with price, period, terms and the right of withdrawal", async () => {
    const person = await world.person();
    const { url } = (await order(person, {})).json();
    expect(await mailsOf(person, "subscription-started")).toEqual([]);
    world.clock.moveTo(new Date(world.clock.now().getTime() + 60_000));
    await world.pay(url);
    const events = await world.takeEvents();
    await world.bring(events.toReversed());
    await world.bring(events);
    const [row] = await ordersOf(person);
    const contract = await world.database.db.selectFrom("user_subscriptions").selectAll().where("user_id", "=", person.userId).execute();
    expect(row).toMatchObject({
      stripe_session_id: sessionOf(url),
      contract_id: contract[0]?.stripe_subscription_id,
      concluded_at: world.clock.now(),
    });
    const mails = await mailsOf(person, "subscription-started");
    expect(mails).toHaveLength(1);
    const parameters = (mails[0]?.parameters ?? {}) as Record<string, string | number>;
    expect(parameters).toMatchObject({ amountCents: 1599, priceCents: 1999, termsVersion: orderTexts.terms });
    const { text, html } = renderMail(world.deps.config, { template: "subscription-started", language: "en", parameters });
    const { origin } = world.deps.config.publicUrl;
    for (const written of [text, html.replaceAll("&#36;", "$").replaceAll(/<[^>]+>/g, "")])
      for (const part of [
        "$15.99",
        "$19.99",
        "March 10, 2026",
        "April 10, 2026",
        "March 24, 2026",
        `${origin}/terms`,
        `${origin}/profile/billing#withdrawal`,
        world.deps.config.contactEmail,
        `To: ${world.deps.config.postalAddress}`,
        "withdraw from",
      ])
        expect(written).toContain(part);
  });

  test("with the pack that it led to, confirmed by one mail", async () => {
    const person = await subscriber();
    const { url } = (await world.post(packPath, person, { pack: "pack_100", consent: consentTo("pack_100") })).json();
    await world.pay(url);
    await world.settle();
    const [, row] = await ordersOf(person);
    expect(row).toMatchObject({ price_id: "pack_100", amount_cents: 799, later_cents: null, contract_id: `pack:${sessionOf(url)}` });
    const mails = await mailsOf(person, "pack-bought");
    expect(mails.map(({ parameters }) => parameters)).toMatchObject([{ amountCents: 799, consentedAt: row?.consented_at.toISOString() }]);
  });

  test("and can't be changed or deleted, by the owner either, once it led to something", async () => {
    const person = await subscriber();
    const [row] = await ordersOf(person);
    const owner = (statement: string) => world.database.asOwner(statement);
    for (const statement of [
      `update orders set amount_cents = 1 where id = '${row?.id}'`,
      `update orders set contract_id = 'another' where id = '${row?.id}'`,
      `delete from orders where id = '${row?.id}'`,
      "truncate orders",
    ])
      await expect(owner(statement), statement).rejects.toThrow("append-only");
  });
});

test("an open payment page with another price than the person agrees to now can't be paid any more", async () => {
  const person = await world.person();
  const { url: old } = (await order(person, {})).json();
  world.clock.moveTo(new Date(world.clock.now().getTime() + 60_000));
  await campaign(50);
  try {
    expect((await order(person, {})).json()).toMatchObject({ code: "preview_outdated" });
    const { url } = (await order(person, consentTo("starter_month", 50))).json();
    expect(url).not.toBe(old);
    await expect(world.pay(old)).rejects.toThrow();
    await world.pay(url);
    await world.settle();
    const orders = await ordersOf(person);
    expect(orders.map(({ amount_cents, contract_id }) => [amount_cents, contract_id !== null])).toEqual([
      [1599, false],
      [999, true],
    ]);
  } finally {
    await world.database.asOwner("delete from discount_campaigns where percent = 50");
  }
});

test("what a campaign brought: the plans it sold, how many of them run, and what was paid, went back and was taken off", async () => {
  const { db } = world.database;
  const admin = await world.person();
  await db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
  const { id } = await db.selectFrom("discount_campaigns").select("id").where("percent", "=", percent).executeTakeFirstOrThrow();
  const read = async (campaignId: string, who = admin) =>
    (await world.app.inject({ url: `/api/admin/campaigns/${campaignId}/results`, headers: who.headers })).json();
  const before: CampaignResults = await read(id);
  const [stays, leaves, idle] = [await subscriber(), await subscriber(), await world.person()];
  // An order that nobody pays brings nothing.
  await order(idle, {});
  const bought = { orders: before.orders + 2, running: before.running + 2, discountCents: before.discountCents + 2 * 400 };
  expect(await read(id)).toEqual({ ...before, ...bought, revenueCents: before.revenueCents + 2 * 1_599 });
  const row = db.selectFrom("user_subscriptions").select("stripe_subscription_id").where("user_id", "=", leaves.userId);
  await world.deps.payments.subscriptions.cancel((await row.executeTakeFirstOrThrow()).stripe_subscription_id);
  await world.settle();
  await world.deps.payments.refunds.create({ charge: await chargeOf(world, leaves), amount: 500 });
  await decideDispute(world, await openDispute(world, await chargeOf(world, stays)), "lost");
  await world.settle();
  expect(await read(id)).toEqual({
    ...bought,
    running: before.running + 1,
    revenueCents: before.revenueCents + 2 * 1_599,
    returnedCents: before.returnedCents + 500 + 1_599,
  });
  expect(await read(randomUUID())).toMatchObject({ code: "not_found" });
  expect(await read(id, stays)).toMatchObject({ code: "not_found" });
});

test("of an order that nobody paid nothing is left after thirty days; of one that was paid, all", async () => {
  const [idle, buyer] = [await world.person(), await subscriber()];
  await order(idle, {});
  const { db } = world.database;
  const offset_ms = Math.max(0, world.clock.now().getTime() + 31 * dayMs - Date.now());
  await db.updateTable("business_clock").set({ offset_ms }).execute();
  await sweepRetention(world.deps, new AbortController().signal);
  expect([await ordersOf(idle), await ordersOf(buyer)]).toEqual([[], [expect.objectContaining({ price_id: "starter_month" })]]);
});
