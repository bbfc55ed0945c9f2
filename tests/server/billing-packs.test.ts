/** A pack is sold to people with a paid plan; its credits come once, last twelve months, and wait while there is no plan. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Wallet } from "#contract/credits/wallet.ts";
import { addMonths } from "#domain/clock.ts";
import { processCheckout, processStripeEvent } from "#server/features/billing/process-event.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { deliver } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";

const start = new Date("2026-03-10T09:30:00Z");
const path = "/api/billing/packs/checkout";
let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld({}, start);
});
afterAll(() => world.close());

async function subscriber(): Promise<Person> {
  const person = await world.person();
  await world.buy(person, "starter_month");
  await world.settle();
  return person;
}

async function packCheckout(person: Person, pack = "pack_250"): Promise<{ url: string; sessionId: string }> {
  const answer = await world.post(path, person, { pack, consent: consentTo(pack) });
  expect(answer.statusCode).toBe(200);
  const { url } = answer.json<{ url: string }>();
  return { url, sessionId: new URL(url).pathname.split("/").at(-1) ?? "" };
}

const walletOf = async ({ headers }: Person) => (await world.app.inject({ url: "/api/credits/wallet", headers })).json<Wallet>();
const packsOf = async (person: Person) => (await walletOf(person)).grants.filter(({ kind }) => kind === "pack");
const mailsOf = ({ email }: Person) =>
  world.database.db.selectFrom("mails").selectAll().where("recipient", "=", email).where("template", "=", "pack-bought").execute();

describe("who may buy", () => {
  test.each(["", "pack_1", "starter_month", "PACK_100", "__proto__"])("the unknown pack %j is refused", async (pack) => {
    expect((await world.post(path, await subscriber(), { pack })).json()).toMatchObject({ code: "unknown_price", status: 400 });
  });

  test("nobody without a plan, with an unpaid one, or signed out", async () => {
    const stranger = await world.person();
    expect((await world.post(path, stranger, { pack: "pack_100" })).json()).toMatchObject({ code: "subscription_required", status: 402 });
    const late = await subscriber();
    await world.database.db
      .updateTable("user_subscriptions")
      .set({ status: "past_due", grace_until: addMonths(start, 1) })
      .where("user_id", "=", late.userId)
      .execute();
    expect((await world.post(path, late, { pack: "pack_100" })).json()).toMatchObject({ code: "subscription_required" });
    expect((await world.post(path, undefined, { pack: "pack_100" })).json()).toMatchObject({ code: "unauthenticated" });
  });
});

describe("a paid pack", () => {
  test("is in the wallet for twelve months, spent after the plan's credits, with its invoice and a mail", async () => {
    const person = await subscriber();
    const { url, sessionId } = await packCheckout(person);
    expect((await world.post("/api/billing/checkout-return", person, { sessionId })).json()).toEqual({
      state: "waiting",
      packCredits: 250,
    });
    await world.pay(url);
    const before = world.pushed.length;
    await world.settle();
    expect((await world.post("/api/billing/checkout-return", person, { sessionId })).json()).toEqual({ state: "paid", packCredits: 250 });
    const wallet = await walletOf(person);
    expect(wallet.available).toBe(550);
    expect(wallet.grants.map(({ kind, credits, expiresAt }) => ({ kind, credits, expiresAt }))).toEqual([
      { kind: "plan", credits: 300, expiresAt: expect.any(String) },
      { kind: "pack", credits: 250, expiresAt: addMonths(start, 12).toISOString() },
    ]);
    await expect.poll(() => world.pushed.slice(before).some((event) => JSON.stringify(event).includes("wallets"))).toBe(true);
    const session = await world.deps.payments.checkout.sessions.retrieve(sessionId, { expand: ["invoice", "payment_intent"] });
    const invoice = session.invoice as { id: string; total: number; status: string };
    expect(invoice).toMatchObject({ total: 1799, status: "paid" });
    const { db } = world.database;
    expect(await db.selectFrom("paid_invoices").selectAll().where("id", "=", invoice.id).executeTakeFirst()).toMatchObject({
      amount_paid_cents: 1799,
      stripe_subscription_id: null,
      billing_reason: "manual",
    });
    const [pack] = await packsOf(person);
    expect(
      await db
        .selectFrom("grants")
        .selectAll()
        .where("id", "=", pack?.id ?? "")
        .executeTakeFirst(),
    ).toMatchObject({
      pack_key: "pack_250",
      invoice_id: invoice.id,
      charge_id: (session.payment_intent as { latest_charge: string }).latest_charge,
    });
    expect(await mailsOf(person)).toHaveLength(1);
  });

  test("is granted once: doubled and reordered events, the page's return and the job at the same moment", async () => {
    const person = await subscriber();
    await world.takeEvents();
    const { url, sessionId } = await packCheckout(person, "pack_100");
    await Promise.all([world.pay(url), world.pay(url)]);
    const events = await world.takeEvents();
    for (const event of events) await deliver(world, JSON.stringify(event));
    const twin = { ...events.find(({ type }) => type === "checkout.session.completed"), id: `evt_${randomUUID()}` };
    await deliver(world, JSON.stringify(twin));
    await Promise.all([
      ...[twin, ...events].reverse().map(({ id }) => processStripeEvent(world.deps, id)),
      processCheckout(world.deps, sessionId),
      processCheckout(world.deps, sessionId),
    ]);
    expect((await packsOf(person)).map(({ credits }) => credits)).toEqual([100]);
    expect(await mailsOf(person)).toHaveLength(1);
    expect(await findDisagreements(world.database.db)).toEqual([]);
  });

  test("whose every event is lost is found by its invoice", async () => {
    const person = await subscriber();
    const { url } = await packCheckout(person, "pack_500");
    await world.pay(url);
    const lost = await world.takeEvents();
    // Pretend that Stripe no longer lists them.
    await world.database.db
      .insertInto("stripe_events")
      .values(
        lost.map(({ id, type, created }) => ({
          id,
          type,
          livemode: false,
          object_id: null,
          created_at: new Date(created * 1_000),
          payload: "{}",
          status: "ignored",
        })),
      )
      .execute();
    expect((await reconcileBilling(world.deps)).repaired).toBe(1);
    expect((await packsOf(person)).map(({ credits }) => credits)).toEqual([500]);
    expect((await reconcileBilling(world.deps)).repaired).toBe(0);
  });

  test("can be bought again, and a double click shares one checkout", async () => {
    const person = await subscriber();
    const clicks = await Promise.all(Array.from({ length: 4 }, () => packCheckout(person)));
    expect(new Set(clicks.map(({ url }) => url)).size).toBe(1);
    await world.pay(clicks[0]?.url ?? "");
    // Before its event has come.
    const next = await packCheckout(person);
    expect(next.url).not.toBe(clicks[0]?.url);
    await world.pay(next.url);
    await world.settle();
    expect((await packsOf(person)).map(({ credits }) => credits)).toEqual([250, 250]);
  });

  test("is not granted when the card is declined or the checkout expires", async () => {
    const person = await subscriber();
    const { url, sessionId } = await packCheckout(person);
    await world.pay(url, "declined");
    await world.settle();
    expect(await packsOf(person)).toEqual([]);
    await world.deps.payments.checkout.sessions.expire(sessionId);
    await world.settle();
    expect((await world.post("/api/billing/checkout-return", person, { sessionId })).json()).toEqual({
      state: "expired",
      packCredits: 250,
    });
    expect((await world.post("/api/billing/checkout-return", await subscriber(), { sessionId })).statusCode).toBe(404);
  });

  test("waits while there is no plan, and can be spent again with the next one", async () => {
    const person = await subscriber();
    const { url } = await packCheckout(person, "pack_1000");
    await world.pay(url);
    await world.settle();
    const { db } = world.database;
    const end = (status: "canceled" | "active") =>
      db.updateTable("user_subscriptions").set({ status }).where("user_id", "=", person.userId).execute();
    await end("canceled");
    expect((await walletOf(person)).available).toBe(0);
    expect((await packsOf(person)).map(({ remaining }) => remaining)).toEqual([1000]);
    await end("active");
    expect((await walletOf(person)).available).toBe(1300);
  });
});
