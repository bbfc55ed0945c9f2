/** Returned money takes its credits with it: once, in any order, and never more than was spent becomes debt. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { InvoicePage } from "#contract/billing/invoices.ts";
import type { Explanation } from "#contract/credits/ledger.ts";
import { addMilliseconds, dayMs, hourMs } from "#domain/clock.ts";
import { creditsToTake } from "#domain/refunds.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { deliver } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { chargeOf, mailsTo, openDispute, spend, subscribe, walletOf } from "../support/returns.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterEach(async () => {
  expect(await findDisagreements(world.database.db)).toEqual([]);
  await world.endPlans();
});
afterAll(() => world.close());

async function refund(charge: string, amount?: number) {
  return world.deps.payments.refunds.create({ charge, ...(amount === undefined ? {} : { amount }) });
}

const balanceOf = async (person: Person) => (await walletOf(world, person)).balance;
const mailsOf = (person: Person) => mailsTo(world, person, "payment-refunded", "refund-failed");

async function buyPack(person: Person, pack: string): Promise<string> {
  const { url } = (await world.post("/api/billing/packs/checkout", person, { pack, consent: consentTo(pack) })).json<{ url: string }>();
  await world.pay(url);
  await world.settle();
  return chargeOf(world, person, "pack");
}

describe("the share of credits", () => {
  test.each([
    { grants: [300], returned: 1, paid: 1999, taken: [0] },
    { grants: [300], returned: 1998, paid: 1999, taken: [299] },
    { grants: [300], returned: 5000, paid: 1999, taken: [300] },
    { grants: [300, 300, 300], returned: 50, paid: 100, taken: [300, 150, 0] },
    { grants: [1_000_000_000], returned: 9_999_999, paid: 10_000_000, taken: [999_999_900] },
    { grants: [], returned: 5, paid: 10, taken: [] },
  ])("$returned of $paid takes $taken of $grants", ({ grants, returned, paid, taken }) => {
    expect(creditsToTake(grants, returned, paid)).toEqual(taken);
  });
});

describe("a refund", () => {
  test("two partial refunds take the floor of their sum, not the sum of their floors, and each is told", async () => {
    const person = await subscribe(world);
    const charge = await chargeOf(world, person);
    await refund(charge, 333);
    await world.settle();
    expect(await balanceOf(person)).toBe(300 - Math.floor((300 * 333) / 1999));
    await refund(charge, 667);
    await world.settle();
    const invoices = await world.app.inject({ url: "/api/billing/invoices", headers: person.headers });
    expect(invoices.json<{ invoices: unknown[] }>().invoices).toMatchObject([{ refundedCents: 1000, state: "paid" }]);
    expect(await balanceOf(person)).toBe(300 - Math.floor((300 * 1000) / 1999));
    expect(await mailsOf(person)).toEqual([
      { template: "payment-refunded", amountCents: 333, credits: 49, left: 251, variant: "left" },
      { template: "payment-refunded", amountCents: 667, credits: 101, left: 150, variant: "left" },
    ]);
  });

  test("changes no total: paid, billed, granted and spent stay what they were, and what went back is never more than was paid", async () => {
    const person = await subscribe(world);
    await spend(world, person, 40);
    const charge = await chargeOf(world, person);
    const { headers } = person;
    const read = async <T>(url: string) => (await world.app.inject({ url, headers })).json<T>();
    const totals = async () => {
      const { rows } = await world.database.pool.query(
        "select sum(amount_paid_cents)::int as paid from paid_invoices p join wallets w using (billing_account_id) join grants g on g.wallet_id = w.id where charge_id = $1",
        [charge],
      );
      const { grants } = await read<Explanation>("/api/credits/explanation");
      const { invoices } = await read<InvoicePage>("/api/billing/invoices");
      return {
        ...rows[0],
        billed: invoices.map(({ totalCents }) => totalCents),
        grants: grants.map(({ credits, spent }) => [credits, spent]),
      };
    };
    const before = await totals();
    expect(before).toEqual({ paid: 1999, billed: [1999], grants: [[300, 40]] });
    for (const cents of [500, 700, 299]) {
      await refund(charge, cents);
      await world.settle();
      expect(await totals()).toEqual(before);
    }
    expect(await read("/api/billing/invoices")).toMatchObject({ invoices: [{ refundedCents: 1499 }] });
    expect(await read("/api/credits/explanation")).toMatchObject({
      agrees: true,
      grants: [{ takenBack: Math.floor((300 * 1499) / 1999) }],
    });
    await expect(refund(charge, 501)).rejects.toThrow();
  });

  test("of spent credits leaves debt, which stops spending until it is repaid", async () => {
    const person = await subscribe(world);
    await spend(world, person, 100);
    await refund(await chargeOf(world, person));
    await world.settle();
    expect(await walletOf(world, person)).toMatchObject({ balance: -100, available: 0, frozen: false });
    expect(await mailsOf(person)).toMatchObject([{ amountCents: 1999, credits: 300, left: -100, variant: "debt" }]);
    await buyPack(person, "pack_100");
    expect(await walletOf(world, person)).toMatchObject({ balance: 0, available: 0 });
    await expect(spend(world, person, 1)).rejects.toThrow("0 are available");
    await buyPack(person, "pack_250");
    expect(await walletOf(world, person)).toMatchObject({ balance: 250, available: 250 });
  });

  test("takes nothing of what had expired: the debt is what was spent", async () => {
    const person = await subscribe(world);
    const charge = await chargeOf(world, person);
    await spend(world, person, 40);
    const { subscription } = await world.deps.payments.subscriptions
      .list({ limit: 1 })
      .then(({ data }) => ({ subscription: data[0]?.id ?? "" }));
    await world.deps.payments.subscriptions.update(subscription, { cancel_at_period_end: true });
    await world.moveTo(addMilliseconds(world.clock.now(), 40 * dayMs));
    await world.settle();
    expect(await balanceOf(person)).toBe(0);
    await refund(charge, 1000);
    await world.settle();
    expect(await balanceOf(person)).toBe(0);
    await refund(charge);
    await world.settle();
    expect(await balanceOf(person)).toBe(-40);
  });

  test("of a pack takes the pack's credits and leaves the plan's", async () => {
    const person = await subscribe(world);
    await refund(await buyPack(person, "pack_250"), 900);
    await world.settle();
    const { grants } = await walletOf(world, person);
    expect(grants.map(({ kind, remaining }) => [kind, remaining])).toEqual([
      ["plan", 300],
      ["pack", 250 - Math.floor((250 * 900) / 1799)],
    ]);
  });

  test("five events at once, doubled and in any order, are one reading: it is taken once and told once", async () => {
    const person = await subscribe(world);
    const charge = await chargeOf(world, person);
    for (let count = 0; count < 5; count += 1) await refund(charge, 100);
    const events = await world.takeEvents();
    expect(events).toHaveLength(10);
    for (const event of [...events, ...events]) await deliver(world, JSON.stringify(event));
    await Promise.all(events.toReversed().map(({ id }) => processStripeEvent(world.deps, id).catch(() => {})));
    for (const { id } of events) await processStripeEvent(world.deps, id);
    expect(await balanceOf(person)).toBe(300 - Math.floor((300 * 500) / 1999));
    const mails = await mailsOf(person);
    expect(mails.reduce((sum, mail) => sum + Number("amountCents" in mail ? mail.amountCents : 0), 0)).toBe(500);
  });

  test("that arrives before its credits takes them when they are posted", async () => {
    const person = await world.person();
    await world.settle();
    await world.buy(person);
    const bought = await world.takeEvents();
    const charge = bought.find(({ type }) => type === "charge.succeeded")?.data.object as { id: string };
    await refund(charge.id, 1000);
    await world.settle();
    expect(await balanceOf(person)).toBe(0);
    await world.bring(bought.toReversed());
    expect(await balanceOf(person)).toBe(150);
  });

  test("counts once it has arrived, not while it is pending", async () => {
    const person = await subscribe(world, "starter_month", "pending_refund");
    await refund(await chargeOf(world, person), 1000);
    await world.settle();
    expect(await balanceOf(person)).toBe(300);
    expect(await mailsOf(person)).toEqual([]);
    await world.moveTo(addMilliseconds(world.clock.now(), hourMs));
    await world.settle();
    expect(await balanceOf(person)).toBe(150);
    expect(await mailsOf(person)).toHaveLength(1);
  });

  test("that fails gives the credits back, those that repaid its debt included", async () => {
    const person = await subscribe(world, "starter_month", "failing_refund");
    await spend(world, person, 100);
    const charge = await chargeOf(world, person);
    await refund(charge);
    await world.settle();
    await buyPack(person, "pack_250");
    expect(await balanceOf(person)).toBe(150);
    await world.moveTo(addMilliseconds(world.clock.now(), hourMs));
    await world.settle();
    const { balance, grants } = await walletOf(world, person);
    expect([balance, grants.map(({ kind, remaining }) => [kind, remaining])]).toEqual([
      450,
      [
        ["plan", 200],
        ["pack", 250],
      ],
    ]);
    expect(await mailsOf(person)).toMatchObject([
      { template: "payment-refunded", credits: 300 },
      { template: "refund-failed", amountCents: 1999, credits: 300, left: 450 },
    ]);
    await refund(charge, 1999);
    await world.settle();
    expect(await balanceOf(person)).toBe(150);
  });

  test("of an annual plan takes the last months first, and each when it would come", async () => {
    // A world of its own, so that nobody else's year goes by with it.
    const year = await startBillingWorld();
    const person = await subscribe(year, "starter_year");
    const charge = await chargeOf(year, person);
    await spend(year, person, 100);
    // 150 of 3,600 credits are half of the last month.
    await year.deps.payments.refunds.create({ charge, amount: Math.ceil((19_190 * 150) / 3600) });
    await year.settle();
    expect((await walletOf(year, person)).balance).toBe(200);
    await year.moveTo(addMilliseconds(year.clock.now(), 340 * dayMs));
    expect((await walletOf(year, person)).balance).toBe(150);
    await year.deps.payments.refunds.create({ charge });
    await year.settle();
    expect((await walletOf(year, person)).balance).toBe(-100);
    expect(await findDisagreements(year.database.db)).toEqual([]);
    await year.close();
  });

  test("of a customer we do not know, and of a payment that gave no credits, changes no wallet", async () => {
    const { payments } = world.deps;
    const intent = await payments.paymentIntents.create({ amount: 500, currency: "usd", confirm: true, payment_method: "pm_card_visa" });
    await refund(String(intent.latest_charge));
    const events = await world.takeEvents();
    await world.bring(events);
    const refunded = events.find(({ type }) => type === "charge.refunded");
    const row = await world.database.db
      .selectFrom("stripe_events")
      .select("status")
      .where("id", "=", refunded?.id ?? "")
      .executeTakeFirst();
    expect(row?.status).toBe("ignored");
    expect(
      await world.database.db.selectFrom("charge_returns").selectAll().where("charge_id", "=", String(intent.latest_charge)).execute(),
    ).toEqual([]);
  });
});

describe("a refund by the team", () => {
  const refundBy = (clerk: Person, person: Person, body: object) =>
    world.post(`/api/admin/people/${person.userId}/refunds`, clerk, { reason: "They were charged twice", key: randomUUID(), ...body });
  const codeOf = ({ statusCode, body }: { statusCode: number; body: string }) => [statusCode, body && JSON.parse(body).code];
  const invoiceOf = async ({ headers }: Person) =>
    (await world.app.inject({ url: "/api/billing/invoices", headers })).json<InvoicePage>().invoices[0];
  async function admin(): Promise<Person> {
    const person = await world.person();
    await world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", person.userId).execute();
    return person;
  }

  test("goes back once, with its credits, its mail and its reason; of two at the same moment the second has to look again", async () => {
    const [clerk, other, person] = [await admin(), await admin(), await subscribe(world)];
    const invoiceId = (await invoiceOf(person))?.id;
    const asked = { invoiceId, amountCents: 1000, refundedCents: 0, key: randomUUID() };
    const both = await Promise.all([refundBy(clerk, person, asked), refundBy(other, person, { ...asked, key: randomUUID() })]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
    expect(codeOf(await refundBy(clerk, person, asked))).toEqual([409, "preview_outdated"]);
    await world.settle();
    expect(await invoiceOf(person)).toMatchObject({ refundedCents: 1000, state: "paid" });
    expect(await balanceOf(person)).toBe(150);
    expect(await mailsOf(person)).toMatchObject([{ template: "payment-refunded", amountCents: 1000, credits: 150 }]);
    const rest = { invoiceId, refundedCents: 1000 };
    expect(codeOf(await refundBy(clerk, person, { ...rest, amountCents: 1000 }))).toEqual([409, "nothing_to_refund"]);
    expect(codeOf(await refundBy(clerk, person, { ...rest, amountCents: 999 }))).toEqual([204, ""]);
    expect(await balanceOf(person)).toBe(0);
    const acts = await world.database.db
      .selectFrom("audit_events")
      .innerJoin("audit_reasons", "event_id", "id")
      .select(["details", "reason"])
      .where("action", "=", "refund.asked")
      .orderBy("id")
      .execute();
    expect(acts).toEqual([1000, 999].map((amountCents) => ({ details: { invoiceId, amountCents }, reason: "They were charged twice" })));
  });

  test("is not there for others, of another person's invoice, or while a dispute has the money", async () => {
    const [clerk, person, stranger] = [await admin(), await subscribe(world), await subscribe(world)];
    const asked = { invoiceId: (await invoiceOf(person))?.id, amountCents: 100, refundedCents: 0 };
    expect(codeOf(await refundBy(stranger, person, asked))).toEqual([404, "not_found"]);
    expect(codeOf(await refundBy(clerk, stranger, asked))).toEqual([404, "not_found"]);
    await openDispute(world, await chargeOf(world, person));
    await world.settle();
    expect(codeOf(await refundBy(clerk, person, asked))).toEqual([409, "refund_refused"]);
  });
});
