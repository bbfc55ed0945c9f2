/**
 * A bank account pays days after its checkout, or does not. Until the money is there nothing is given for it; then it is given once. No plan
 * goes on that was never paid.
 */
import { randomUUID } from "node:crypto";
import type Stripe from "stripe";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { InvoicePage } from "#contract/billing/invoices.ts";
import { addMilliseconds, dayMs, hourMs } from "#domain/clock.ts";
import { graceDays } from "#domain/plans.ts";
import { readMoneyBack } from "#server/features/billing/money-back.ts";
import { payBack } from "#server/features/billing/pay-back.ts";
import { processCheckout } from "#server/features/billing/process-event.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld, Card } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { linesOf } from "../support/ledger-lines.ts";
import { customerOf } from "../support/payers.ts";
import { mailsTo, subscribe, walletOf } from "../support/returns.ts";

/** Four business days with a weekend between them, and an hour. */
const answerMs = 6 * dayMs + hourMs;
let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld({}, new Date("2026-03-11T09:30:00Z"));
});
afterEach(async () => {
  expect(await findDisagreements(world.database.db)).toEqual([]);
  await world.endPlans();
});
afterAll(() => world.close());

const later = (ms: number) => addMilliseconds(world.clock.now(), ms);
const nextWednesday = () => later(((3 - world.clock.now().getUTCDay() + 7) % 7) * dayMs);
const sessionOf = (url: string) => new URL(url).pathname.split("/").at(-1) ?? "";

async function orderPack(person: Person, account: Card): Promise<string> {
  const answer = await world.post("/api/billing/packs/checkout", person, { pack: "pack_250", consent: consentTo("pack_250") });
  expect(answer.statusCode).toBe(200);
  const { url } = answer.json<{ url: string }>();
  await world.pay(url, account);
  return sessionOf(url);
}

async function orderPlan(account: Card): Promise<Person> {
  const person = await world.person();
  const { url } = await world.checkout(person, "starter_month");
  await world.pay(url, account);
  return person;
}

const packsOf = async (person: Person) => (await walletOf(world, person)).grants.filter(({ kind }) => kind === "pack");
const returnOf = async (person: Person, sessionId: string) =>
  (await world.post("/api/billing/checkout-return", person, { sessionId })).json<{ state: string }>().state;
const checkOf = async (person: Person) => (await world.post("/api/functions/reliable-subscription-check", person)).json();
const invoiceStatesOf = async (person: Person) =>
  (await world.app.inject({ url: "/api/billing/invoices", headers: person.headers }))
    .json<InvoicePage>()
    .invoices.map(({ state }) => state);
const grantsOf = async ({ userId }: Person) => (await stateOf(world, userId)).grants;

async function stripeStatusOf({ userId }: Person): Promise<string | undefined> {
  const customer = await customerOf(world.database.db, userId);
  return (await world.deps.payments.subscriptions.list({ customer, status: "all" })).data[0]?.status;
}

/** The card of the plan is declined at the renewal. */
async function failRenewal({ userId }: Person): Promise<void> {
  const { payments } = world.deps;
  const customer = await customerOf(world.database.db, userId);
  const method = await payments.paymentMethods.attach("pm_card_chargeCustomerFail", { customer });
  const [bought] = (await payments.subscriptions.list({ customer })).data;
  await payments.subscriptions.update(String(bought?.id), { default_payment_method: method.id });
  await world.moveTo(later(32 * dayMs));
}

/** On Stripe's page of the invoice. */
async function payOpenInvoice({ userId }: Person, account: Card): Promise<void> {
  const customer = await customerOf(world.database.db, userId);
  const [open] = (await world.deps.payments.invoices.list({ customer, status: "open" })).data;
  const response = await fetch(`${open?.hosted_invoice_url}/pay`, { method: "POST", body: new URLSearchParams({ card: account }) });
  expect(response.ok).toBe(true);
}

const twinOf = (event: Stripe.Event): Stripe.Event => ({ ...event, id: `evt_${randomUUID()}` });

describe("a pack", () => {
  test.each([false, true])(
    "gives nothing on its way and its credits once, however often the events come (reversed: %j)",
    async (reversed) => {
      const person = await subscribe(world, "starter_year");
      await world.takeEvents();
      const sessionId = await orderPack(person, "bank_debit");
      const first = await world.takeEvents();
      await world.bring(reversed ? first.toReversed() : first);
      await processCheckout(world.deps, sessionId);
      expect([await packsOf(person), await returnOf(person, sessionId)]).toEqual([[], "processing"]);
      expect(await mailsTo(world, person, "pack-bought")).toEqual([]);
      await world.moveTo(later(answerMs), { bringing: false });
      const second = await world.takeEvents();
      const all = [...second, ...first.map(twinOf), ...second.map(twinOf)];
      await world.bring(reversed ? all.toReversed() : all);
      await Promise.all([processCheckout(world.deps, sessionId), processCheckout(world.deps, sessionId)]);
      expect(await packsOf(person)).toMatchObject([{ credits: 250, remaining: 250 }]);
      expect(await returnOf(person, sessionId)).toBe("paid");
      expect(await mailsTo(world, person, "pack-bought")).toHaveLength(1);
      const { invoices } = await stateOf(world, person.userId);
      expect(invoices.filter(({ billing_reason: reason }) => reason === "manual")).toMatchObject([{ amount_paid_cents: 1799 }]);
      const [granted] = await world.database.db
        .selectFrom("grants")
        .select("charge_id")
        .where("pack_key", "=", "pack_250")
        .orderBy("created_at", "desc")
        .limit(1)
        .execute();
      expect(await world.deps.payments.charges.retrieve(granted?.charge_id ?? "")).toMatchObject({ status: "succeeded", amount: 1799 });
    },
  );

  test("whose every event is lost is found by its invoice", async () => {
    const person = await subscribe(world, "starter_year");
    await orderPack(person, "bank_debit");
    await world.moveTo(later(answerMs), { bringing: false });
    await reconcileBilling(world.deps, later(-8 * dayMs));
    await world.settle();
    expect((await packsOf(person)).map(({ credits }) => credits)).toEqual([250]);
  });

  test("whose debit fails gives nothing and leaves nothing owed, and can be bought again, also while the first one is on its way", async () => {
    const person = await subscribe(world, "starter_year");
    const failed = await orderPack(person, "bank_debit_fails");
    await world.settle();
    const second = await orderPack(person, "bank_debit");
    expect(second).not.toBe(failed);
    await world.moveTo(later(answerMs));
    expect([await returnOf(person, failed), await returnOf(person, second)]).toEqual(["expired", "paid"]);
    expect((await packsOf(person)).map(({ credits }) => credits)).toEqual([250]);
    await orderPack(person, "success");
    await world.settle();
    expect((await packsOf(person)).map(({ credits }) => credits)).toEqual([250, 250]);
    const customer = await customerOf(world.database.db, person.userId);
    expect((await world.deps.payments.invoices.list({ customer, status: "open" })).data).toEqual([]);
    expect(await checkOf(person)).toMatchObject({ subscribed: true, status: "active" });
    expect(await checkOf(person)).not.toHaveProperty("unpaid");
    const { amount } = (await world.deps.payments.charges.list({ customer, limit: 1 })).data[0] ?? {};
    expect(amount).toBe(1799);
  });
});

describe("a plan", () => {
  test.each([false, true])("begins with the money: nothing before, its credits once then (events reversed: %j)", async (reversed) => {
    const person = await world.person();
    await world.takeEvents();
    const { url } = await world.checkout(person, "starter_month");
    await world.pay(url, "bank_debit");
    const first = await world.takeEvents();
    await world.bring(reversed ? first.toReversed() : first);
    // Nothing is asked of the person meanwhile.
    const unpaid = { amountCents: 1999, processing: true, needsAction: false, until: null };
    expect(await checkOf(person)).toMatchObject({ subscribed: false, status: "incomplete", unpaid });
    expect(await invoiceStatesOf(person)).toEqual(["processing"]);
    expect([await grantsOf(person), await returnOf(person, sessionOf(url)), await stripeStatusOf(person)]).toEqual([
      [],
      "processing",
      "active",
    ]);
    // Neither a second plan nor a pack is sold meanwhile.
    expect(await world.checkout(person, "basic_month")).toMatchObject({ code: "already_subscribed" });
    const pack = await world.post("/api/billing/packs/checkout", person, { pack: "pack_250", consent: consentTo("pack_250") });
    expect(pack.json()).toMatchObject({ code: "subscription_required" });
    await world.moveTo(later(answerMs), { bringing: false });
    const second = await world.takeEvents();
    const all = [...second, ...first.map(twinOf), ...second.map(twinOf)];
    await world.bring(reversed ? all.toReversed() : all);
    expect(await checkOf(person)).toMatchObject({ subscribed: true, status: "active" });
    expect(await grantsOf(person)).toMatchObject([{ kind: "plan", credits: 300, remaining: 300 }]);
    expect(await returnOf(person, sessionOf(url))).toBe("paid");
    expect(await invoiceStatesOf(person)).toEqual(["paid"]);
    expect(await mailsTo(world, person, "payment-failed")).toEqual([]);
  });

  test("can't be changed before its money is there: the change would make another invoice than the one that is being paid", async () => {
    const person = await orderPlan("bank_debit");
    await world.settle();
    const change = { priceId: "professional_year" };
    expect((await world.post("/api/billing/plan-change/preview", person, change)).json()).toMatchObject({ code: "plan_unpaid" });
    await world.moveTo(later(answerMs));
    expect((await world.post("/api/billing/plan-change/preview", person, change)).statusCode).toBe(200);
  });

  test("is renewed by debit: it goes on while the bank has not answered, and its credits come once with the money", async () => {
    const person = await orderPlan("bank_debit");
    await world.moveTo(later(answerMs));
    const { subscription } = await stateOf(world, person.userId);
    await world.moveTo(addMilliseconds(subscription.current_period_end ?? new Date(), 2 * hourMs));
    expect(await checkOf(person)).toMatchObject({ subscribed: true, status: "active" });
    expect(await grantsOf(person)).toHaveLength(1);
    await world.moveTo(later(answerMs));
    expect((await grantsOf(person)).map(({ credits }) => credits)).toEqual([300, 300]);
    expect(await mailsTo(world, person, "payment-failed")).toEqual([]);
  });

  test("whose debit fails is past due like any other, without credits, and ends after its days of grace", async () => {
    const person = await orderPlan("bank_debit_fails");
    await world.settle();
    const paidAt = world.clock.now();
    await world.moveTo(later(answerMs));
    expect(await checkOf(person)).toMatchObject({ status: "past_due", unpaid: { amountCents: 1999, processing: false } });
    expect(await invoiceStatesOf(person)).toEqual(["failed"]);
    expect(await grantsOf(person)).toEqual([]);
    // The payment page could only say that the debit was on its way.
    expect(await mailsTo(world, person, "payment-failed")).toMatchObject([{ amountCents: 1999 }]);
    await world.moveTo(addMilliseconds(paidAt, graceDays * dayMs + hourMs));
    expect(await checkOf(person)).toMatchObject({ subscribed: false });
    await world.moveTo(later(30 * dayMs));
    expect(await checkOf(person)).toMatchObject({ subscribed: false, status: "canceled" });
    expect([await grantsOf(person), await stripeStatusOf(person)]).toEqual([[], "canceled"]);
    expect((await world.checkout(person, "starter_month")).status).toBe(200);
  });

  test("that is paid by debit on the last day of its grace goes on until the bank has answered, and its credits come with the money", async () => {
    const person = await subscribe(world, "starter_month");
    await failRenewal(person);
    const { unpaid } = await checkOf(person);
    await world.moveTo(addMilliseconds(new Date(unpaid.until), -hourMs));
    await payOpenInvoice(person, "bank_debit");
    expect([unpaid.processing, await invoiceStatesOf(person)]).toEqual([false, ["failed", "paid"]]);
    await world.settle();
    // Paying a second time is not offered any more.
    expect([(await checkOf(person)).unpaid.processing, await invoiceStatesOf(person)]).toEqual([true, ["processing", "paid"]]);
    await world.moveTo(addMilliseconds(new Date(unpaid.until), dayMs));
    expect([(await checkOf(person)).subscribed, await stripeStatusOf(person)]).toEqual([true, "past_due"]);
    await world.moveTo(later(answerMs));
    expect([(await checkOf(person)).status, await stripeStatusOf(person)]).toEqual(["active", "active"]);
    expect(await grantsOf(person)).toHaveLength(2);
  });

  test("whose debit of the last day fails ends then", async () => {
    const person = await subscribe(world, "starter_month");
    await failRenewal(person);
    const { unpaid } = await checkOf(person);
    await world.moveTo(addMilliseconds(new Date(unpaid.until), -hourMs));
    await payOpenInvoice(person, "bank_debit_fails");
    await world.moveTo(later(answerMs + dayMs));
    expect([await checkOf(person), await stripeStatusOf(person)]).toMatchObject([{ subscribed: false, status: "canceled" }, "canceled"]);
    expect(await grantsOf(person)).toHaveLength(1);
  });

  test("whose debit fails and whose invoice Stripe voids, though it stays active there, is ended and can be bought again", async () => {
    const person = await orderPlan("bank_debit_voids");
    await world.moveTo(later(answerMs));
    await world.settle();
    expect(await checkOf(person)).toMatchObject({ subscribed: false, status: "canceled" });
    expect([await grantsOf(person), await stripeStatusOf(person)]).toEqual([[], "canceled"]);
    expect(await mailsTo(world, person, "plan-ended")).toMatchObject([{ variant: "unpaid" }]);
    const again = await world.checkout(person, "starter_month");
    expect(again.status).toBe(200);
    await world.pay(again.url);
    await world.settle();
    expect(await grantsOf(person)).toMatchObject([{ credits: 300, remaining: 300 }]);
  });

  test.each([false, true])(
    "whose money comes after it has ended gets it back, once, and keeps the guarantee (events doubled: %j)",
    async (doubled) => {
      // So that the bank answers within the days of grace, and before Stripe tries again.
      await world.moveTo(nextWednesday());
      const person = await orderPlan("bank_debit_fails");
      await world.settle();
      const orderedAt = world.clock.now();
      await world.moveTo(later(answerMs));
      await payOpenInvoice(person, "bank_debit");
      await world.moveTo(addMilliseconds(orderedAt, graceDays * dayMs + 2 * hourMs));
      expect(await checkOf(person)).toMatchObject({ subscribed: false, status: "canceled" });
      await world.moveTo(later(answerMs), { bringing: false });
      const events = await world.takeEvents();
      await world.bring(doubled ? [...events, ...events.map(twinOf)] : events);
      const late = world.database.db.selectFrom("money_backs").select("id").where("kind", "=", "late").where("done_at", "is", null);
      const { id } = await late.executeTakeFirstOrThrow();
      await Promise.all([payBack(world.deps, id), payBack(world.deps, id)]);
      await payBack(world.deps, id);
      // A refund to a bank account is pending for some days.
      await world.moveTo(later(answerMs));
      const customer = await customerOf(world.database.db, person.userId);
      const [charge] = (await world.deps.payments.charges.list({ customer })).data.filter(({ status }) => status === "succeeded");
      expect([charge?.amount, charge?.amount_refunded]).toEqual([1999, 1999]);
      expect(await walletOf(world, person)).toMatchObject({ balance: 0 });
      const taken = (await linesOf(world, person)).filter(({ kind }) => kind === "clawback");
      expect(taken.map(({ reason }) => reason)).toEqual(["late_payment"]);
      expect(await mailsTo(world, person, "payment-refunded")).toMatchObject([{ amountCents: 1999, variant: "late" }]);
      expect([await mailsTo(world, person, "subscription-started"), await mailsTo(world, person, "renewed")]).toEqual([[], []]);
      const again = await world.checkout(person, "starter_month");
      await world.pay(again.url);
      await world.settle();
      expect(await walletOf(world, person)).toMatchObject({ balance: 300 });
      expect(await checkOf(person)).toMatchObject({ subscribed: true, status: "active" });
      expect(await readMoneyBack(world.deps, person.userId)).toMatchObject({ state: "open", amountCents: 1999 });
    },
  );
});
