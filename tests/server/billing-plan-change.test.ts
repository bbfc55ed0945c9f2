/** A plan changes from the next billing period on, as previewed: up, down, monthly and annual. Until then the change can be replaced or undone. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { PlanChangePreview } from "#contract/billing/plan-change.ts";
import { addMilliseconds, addMonths, hourMs } from "#domain/clock.ts";
import { payerOf } from "#server/db/payer.ts";
import { changeRunning } from "#server/features/billing/running-subscription.ts";
import { stripePriceOf } from "#server/features/billing/stripe-catalogue.ts";
import { changePlanEnd } from "#server/features/billing/team-acts.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { customerOf } from "../support/payers.ts";

const start = new Date("2026-03-10T09:30:00Z");
let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld({}, start);
});
afterAll(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.close();
});
afterEach(() => world.endPlans());

const call = (person: Person, method: "POST" | "DELETE", url: string, payload: object = {}) =>
  world.app.inject({ method, url, headers: person.headers, payload });
const preview = (person: Person, priceId: string) => call(person, "POST", "/api/billing/plan-change/preview", { priceId });
const undo = (person: Person) => call(person, "DELETE", "/api/billing/plan-change");
const cancel = (person: Person) => call(person, "POST", "/api/billing/cancellation");
const resume = (person: Person) => call(person, "DELETE", "/api/billing/cancellation");
const check = async (person: Person) => (await world.post("/api/functions/reliable-subscription-check", person)).json();

const confirm = (person: Person, priceId: string, { effectiveAt, amountCents }: PlanChangePreview) =>
  call(person, "POST", "/api/billing/plan-change", { priceId, effectiveAt, amountCents });

async function change(person: Person, priceId: string): Promise<PlanChangePreview> {
  const seen: PlanChangePreview = (await preview(person, priceId)).json();
  const answer = await confirm(person, priceId, seen);
  expect([answer.statusCode, answer.body]).toEqual([200, expect.stringContaining("plan_to_come")]);
  return seen;
}

async function subscriber(priceId = "starter_month"): Promise<Person> {
  const person = await world.person();
  await world.buy(person, priceId);
  await world.settle();
  return person;
}

const rowOf = ({ userId }: Person) =>
  world.database.db.selectFrom("user_subscriptions").selectAll().where("user_id", "=", userId).executeTakeFirstOrThrow();

async function atStripe(person: Person) {
  return world.deps.payments.subscriptions.retrieve((await rowOf(person)).stripe_subscription_id, { expand: ["schedule"] });
}

const mailsOf = ({ userId }: Person) =>
  world.database.db.selectFrom("mails").select(["template", "parameters"]).where("user_id", "=", userId).orderBy("id").execute();
const templatesOf = async (person: Person) => (await mailsOf(person)).map(({ template }) => template);

async function billed(person: Person): Promise<number[]> {
  return (await stateOf(world, person.userId)).invoices.map(({ amount_paid_cents }) => amount_paid_cents);
}

/** An hour after the period's end its invoice is final. */
const afterRenewal = (end: string | Date) => addMilliseconds(new Date(end), 2 * hourMs);

describe("what is previewed is what Stripe bills", () => {
  test.each([
    ["starter_month", "basic_month", 3999, 600],
    ["enterprise_month", "starter_month", 1999, 300],
    ["basic_month", "basic_year", 38390, 600],
    ["starter_month", "enterprise_year", 95990, 1250],
  ])("from %s to %s: nothing now, the previewed amount on the previewed day, then the new credits", async (from, to, cents, credits) => {
    const person = await subscriber(from);
    const [paid] = await billed(person);
    const before = (await stateOf(world, person.userId)).wallet?.balance ?? 0;
    const seen = await change(person, to);
    const { current_period_end: end } = await rowOf(person);
    expect(seen).toMatchObject({ dueNowCents: 0, effectiveAt: end.toISOString(), amountCents: cents, laterCents: cents, replaces: null });
    expect(seen).toMatchObject({ planCreditsLeft: before, from: { credits: before }, to: { priceCents: cents, credits } });
    const [plan, interval] = to.split("_");
    expect((await check(person)).plan_to_come).toEqual({ plan, interval, from: end.toISOString() });
    // A moment before, the old plan is still what there is.
    await world.moveTo(addMilliseconds(end, -1000));
    expect([await billed(person), (await rowOf(person)).plan_key]).toEqual([[paid], from.split("_")[0]]);
    await world.moveTo(afterRenewal(end));
    expect(await billed(person)).toEqual([paid, cents]);
    expect(await check(person)).toMatchObject({ subscription_tier: plan, billing_interval: interval, credits, plan_to_come: null });
    const row = await rowOf(person);
    expect([row.current_period_start, row.current_period_end]).toEqual([end, addMonths(end, interval === "year" ? 12 : 1)]);
  });

  test("who began at another price keeps it, and the account says so", async () => {
    const person = await subscriber();
    expect((await check(person)).price_cents).toBe(1999);
    // Whoever subscribed before the catalogue's price rose has a price like this.
    const { payments } = world.deps;
    const { product } = await payments.prices.retrieve(await stripePriceOf(world.deps, "starter_month"));
    const earlier = await payments.prices.create({
      ...{ currency: "usd", unit_amount: 1499, product: String(product), recurring: { interval: "month" } },
      metadata: { price_id: "starter_month" },
    });
    const { id, items } = await atStripe(person);
    await payments.subscriptions.update(id, { items: [{ id: items.data[0]?.id ?? "", price: earlier.id }], proration_behavior: "none" });
    await world.settle();
    expect(await check(person)).toMatchObject({ subscription_tier: "starter", price_cents: 1499 });
  });

  test("from the year to the month: the months that are paid for come first", async () => {
    const person = await subscriber("starter_year");
    const seen = await change(person, "basic_month");
    const { current_period_end: end, started_at: began } = await rowOf(person);
    expect(end).toEqual(addMonths(began, 12));
    await world.moveTo(addMilliseconds(end, -hourMs));
    expect((await stateOf(world, person.userId)).grants.filter(({ kind, credits }) => kind === "plan" && credits === 300)).toHaveLength(12);
    await world.moveTo(afterRenewal(end));
    expect((await billed(person)).at(-1)).toBe(seen.amountCents);
    expect(await check(person)).toMatchObject({ subscription_tier: "basic", billing_interval: "month", credits: 600 });
    expect((await rowOf(person)).current_period_end).toEqual(addMonths(end, 1));
    // The schedule has done its work and the plan renews by itself.
    await world.moveTo(afterRenewal(addMonths(end, 2)));
    expect((await billed(person)).slice(-2)).toEqual([3999, 3999]);
    expect((await atStripe(person)).schedule).toBeNull();
  });

  test.each([
    ["for two more months", { duration: "repeating", duration_in_months: 2 }, [2999, 3999]],
    ["for good", { duration: "forever" }, [2999, 2999]],
  ] as const)("with a discount that holds %s: to the cent", async (_name, duration, [first, second]) => {
    const { payments } = world.deps;
    const person = await world.person();
    await world.checkout(person, "starter_month");
    const customer = await customerOf(world.database.db, person.userId);
    const { data } = await payments.prices.list({ lookup_keys: ["starter_month"] });
    const coupon = await payments.coupons.create({ percent_off: 25, name: "a quarter", ...duration });
    const session = await payments.checkout.sessions.create({
      mode: "subscription",
      customer,
      line_items: [{ price: data[0]?.id ?? "", quantity: 1 }],
      discounts: [{ coupon: coupon.id }],
      success_url: "http://127.0.0.1:3000/profile",
    });
    await world.pay(String(session.url));
    await world.settle();
    expect(await billed(person)).toEqual([1499]);
    const seen = await change(person, "basic_month");
    expect([seen.to.priceCents, seen.amountCents, seen.laterCents]).toEqual([3999, first, second]);
    expect((await mailsOf(person)).at(-1)).toMatchObject({ template: "plan-change-planned", parameters: { amountCents: first } });
    await world.moveTo(afterRenewal(seen.effectiveAt));
    await world.moveTo(afterRenewal(addMonths(new Date(seen.effectiveAt), 1)));
    expect(await billed(person)).toEqual([1499, first, second]);
  });

  test("with the first period's discount, which is used up then: the full price", async () => {
    const now = world.clock.now();
    await world.database.db
      .insertInto("discount_campaigns")
      .values({ percent: 20, starts_at: now, ends_at: addMilliseconds(now, hourMs), created_at: now })
      .execute();
    const person = await subscriber();
    const seen = await change(person, "basic_month");
    expect(seen.amountCents).toBe(3999);
    await world.moveTo(afterRenewal(seen.effectiveAt));
    expect(await billed(person)).toEqual([1599, 3999]);
  });

  test("begun on the 31st, changed and changed again a month later: the periods keep their days", async () => {
    await world.moveTo(new Date(`${world.clock.now().getUTCFullYear() + 1}-01-31T10:00:00Z`));
    const person = await subscriber();
    const first = await change(person, "basic_month");
    expect(first.effectiveAt.slice(5, 10)).toMatch(/02-2[89]/);
    await world.moveTo(afterRenewal(first.effectiveAt));
    const second = await change(person, "professional_month");
    expect(second.effectiveAt.slice(5, 10)).toBe("03-31");
    await world.moveTo(afterRenewal(second.effectiveAt));
    expect(await billed(person)).toEqual([1999, 3999, 4999]);
    await world.moveTo(afterRenewal(addMonths(new Date(second.effectiveAt), 1)));
    expect((await rowOf(person)).current_period_start.toISOString().slice(5, 10)).toBe("04-30");
    expect((await billed(person)).at(-1)).toBe(4999);
  });
});

describe("a planned change", () => {
  test("confirmed three times at once, and once more, is one change, one line of the history and one mail", async () => {
    const person = await subscriber();
    const seen: PlanChangePreview = (await preview(person, "basic_month")).json();
    const answers = await Promise.all(Array.from({ length: 3 }, () => confirm(person, "basic_month", seen)));
    answers.push(await confirm(person, "basic_month", seen));
    for (const answer of answers) expect([answer.statusCode, answer.json().plan_to_come?.plan]).toEqual([200, "basic"]);
    await world.settle();
    const { data } = await world.deps.payments.subscriptionSchedules.list({ customer: await customerOf(world.database.db, person.userId) });
    expect(data.map(({ status, phases }) => [status, phases.length])).toEqual([["active", 2]]);
    const changes = world.database.db
      .selectFrom("subscription_changes")
      .select("pending_plan_key")
      .where("billing_account_id", "=", payerOf(person.userId));
    expect(await changes.orderBy("id").execute()).toEqual([{ pending_plan_key: null }, { pending_plan_key: "basic" }]);
    expect(await templatesOf(person)).toEqual(["subscription-started", "plan-change-planned"]);
    await world.moveTo(afterRenewal(seen.effectiveAt));
    expect(await billed(person)).toEqual([1999, 3999]);
  });

  test("is told to the person's open pages at once, without waiting for Stripe's event", async () => {
    const person = await subscriber();
    world.pushed.length = 0;
    await change(person, "basic_month");
    await expect.poll(() => world.pushed).toContainEqual({ userId: person.userId, table: "user_subscriptions" });
    expect((await rowOf(person)).pending_plan_key).toBe("basic");
  });

  test("is replaced by the next one, which the preview says", async () => {
    const person = await subscriber();
    await change(person, "enterprise_year");
    const seen = await change(person, "basic_month");
    expect(seen.replaces).toEqual({ plan: "enterprise", interval: "year" });
    expect(await templatesOf(person)).toEqual(["subscription-started", "plan-change-planned", "plan-change-planned"]);
    await world.moveTo(afterRenewal(seen.effectiveAt));
    expect(await billed(person)).toEqual([1999, 3999]);
  });

  test("is undone, as often as one clicks, and planned again: the same change a second time", async () => {
    const person = await subscriber();
    const seen = await change(person, "basic_month");
    const undone = await Promise.all([undo(person), undo(person)]);
    expect(undone.map((answer) => [answer.statusCode, answer.json().plan_to_come])).toEqual([
      [200, null],
      [200, null],
    ]);
    expect((await atStripe(person)).schedule).toBeNull();
    await change(person, "basic_month");
    expect((await check(person)).plan_to_come).toMatchObject({ plan: "basic" });
    await undo(person);
    await world.settle();
    await world.moveTo(afterRenewal(seen.effectiveAt));
    expect(await billed(person)).toEqual([1999, 1999]);
  });

  test("that has begun can't be undone, and the plan can be changed once more", async () => {
    const person = await subscriber();
    const seen = await change(person, "basic_month");
    await world.moveTo(afterRenewal(seen.effectiveAt));
    expect((await undo(person)).json()).toMatchObject({ subscription_tier: "basic", plan_to_come: null });
    const next = await change(person, "starter_month");
    await world.moveTo(afterRenewal(next.effectiveAt));
    expect(await billed(person)).toEqual([1999, 3999, 1999]);
  });

  test("to the year promises the first credits at once, and not after the year, while Stripe still drafts its invoice", async () => {
    const person = await subscriber();
    const { effectiveAt } = await change(person, "starter_year");
    const begun = addMilliseconds(new Date(effectiveAt), hourMs / 2);
    await world.moveTo(begun);
    expect(await check(person)).toMatchObject({ billing_interval: "year", next_credits_at: begun.toISOString() });
    await world.moveTo(afterRenewal(effectiveAt));
    expect((await check(person)).next_credits_at).toBe(addMonths(new Date(effectiveAt), 1).toISOString());
  });

  test("is refused if it would mean something else by now than what was confirmed", async () => {
    const person = await subscriber();
    const seen: PlanChangePreview = (await preview(person, "basic_month")).json();
    for (const other of [
      { ...seen, amountCents: 3998 },
      { ...seen, effectiveAt: addMonths(new Date(seen.effectiveAt), 1).toISOString() },
    ])
      expect((await confirm(person, "basic_month", other)).json()).toMatchObject({ status: 409, code: "preview_outdated" });
    await world.moveTo(afterRenewal(seen.effectiveAt));
    expect((await confirm(person, "basic_month", seen)).json()).toMatchObject({ code: "preview_outdated" });
    expect((await atStripe(person)).schedule).toBeNull();
  });

  test.each(["server_error", "cut_after_work"] as const)(
    "is made by the retry if Stripe does not answer (%s), and is still one change",
    async (kind) => {
      const person = await subscriber();
      const seen: PlanChangePreview = (await preview(person, "basic_month")).json();
      world.setApiFaults([{ kind, method: "POST", path: "/v1/subscription_schedules", count: 3 }]);
      expect((await confirm(person, "basic_month", seen)).statusCode).toBe(502);
      world.setApiFaults([]);
      expect((await confirm(person, "basic_month", seen)).json().plan_to_come).toMatchObject({ plan: "basic" });
      await world.moveTo(afterRenewal(seen.effectiveAt));
      expect(await billed(person)).toEqual([1999, 3999]);
    },
  );
});

describe("cancelled at the end of the period", () => {
  test("after a change was planned: the change is dropped, the plan ends then, and nothing more is billed", async () => {
    const person = await subscriber();
    const { effectiveAt } = await change(person, "basic_month");
    const answers = await Promise.all([cancel(person), cancel(person)]);
    for (const answer of answers)
      expect(answer.json()).toMatchObject({ subscribed: true, cancel_at_period_end: true, plan_to_come: null, next_credits_at: null });
    expect(await templatesOf(person)).toEqual(["subscription-started", "plan-change-planned", "plan-cancelled"]);
    expect((await preview(person, "basic_month")).json()).toMatchObject({ status: 409, code: "plan_ending" });
    await world.settle();
    await world.moveTo(afterRenewal(effectiveAt));
    expect(await billed(person)).toEqual([1999]);
    expect(await check(person)).toMatchObject({ subscribed: false, status: "canceled", credits: 0 });
    for (const act of [cancel, resume, undo, (one: Person) => preview(one, "basic_month")])
      expect((await act(person)).json()).toMatchObject({ status: 409, code: "no_running_plan" });
  });

  test("and resumed: it renews; cancelled again it ends, and each cancellation is mailed", async () => {
    const person = await subscriber();
    const { current_period_end: end } = await rowOf(person);
    await cancel(person);
    const answers = await Promise.all([resume(person), resume(person)]);
    for (const answer of answers) expect(answer.json()).toMatchObject({ cancel_at_period_end: false, next_credits_at: end.toISOString() });
    await world.moveTo(afterRenewal(end));
    expect(await billed(person)).toEqual([1999, 1999]);
    await cancel(person);
    expect((await mailsOf(person)).filter(({ template }) => template === "plan-cancelled")).toEqual([
      { template: "plan-cancelled", parameters: { plan: "starter", endsAt: end.toISOString() } },
      { template: "plan-cancelled", parameters: { plan: "starter", endsAt: addMonths(end, 1).toISOString() } },
    ]);
  });

  test("by the team: that it was asked for, and why, is on the log before Stripe is asked, and that it was done after it", async () => {
    const [person, admin] = [await subscriber(), await world.person()];
    const clerk = { userId: admin.userId, network: "203.0.113.0/24" };
    const end = (action: "plan.cancelled" | "plan.resumed") =>
      changePlanEnd(world.deps, clerk, { userId: person.userId, reason: "They asked by mail" }, action);
    const log = async () => {
      const { db } = world.database;
      const known = db.selectFrom("audit_events").innerJoin("audit_people", "audit_people.id", "subject");
      const rows = await known.select("action").where("user_id", "=", person.userId).orderBy("audit_events.id").execute();
      return rows.flatMap(({ action }) => (action.startsWith("plan.") ? [action] : []));
    };
    world.setApiFaults([{ kind: "server_error", method: "POST", path: "/v1/subscriptions/sub_", count: 3 }]);
    await expect(end("plan.cancelled")).rejects.toMatchObject({ code: "payment_provider_unavailable" });
    expect(await log()).toEqual(["plan.cancel_asked"]);
    world.setApiFaults([]);
    await end("plan.cancelled");
    await expect(end("plan.cancelled")).rejects.toMatchObject({ code: "conflict" });
    await end("plan.resumed");
    expect(await log()).toEqual(["plan.cancel_asked", "plan.cancel_asked", "plan.cancelled", "plan.resume_asked", "plan.resumed"]);
  });

  test("in Stripe's portal, which sets the date alone: resumed here", async () => {
    const person = await subscriber();
    const { url } = (await world.post("/api/billing/portal", person)).json();
    const { id } = await atStripe(person);
    await fetch(`${url}/cancel`, { method: "POST", redirect: "manual", body: new URLSearchParams({ target: id }) });
    expect(await atStripe(person)).toMatchObject({ cancel_at_period_end: false, cancel_at: expect.any(Number) });
    // Before its event has come.
    expect((await preview(person, "basic_month")).json().code).toBe("plan_ending");
    expect((await resume(person)).json()).toMatchObject({ cancel_at_period_end: false });
    expect(await atStripe(person)).toMatchObject({ cancel_at: null });
  });
});

describe("a change is refused", () => {
  test("to the present plan and to what is not sold, and without a plan", async () => {
    const person = await subscriber();
    expect((await preview(person, "starter_month")).json().code).toBe("same_plan");
    expect((await preview(person, "pack_100")).json().code).toBe("unknown_price");
    expect((await preview(await world.person(), "starter_month")).json().code).toBe("no_running_plan");
  });

  test("while a renewal is unpaid; the plan can be cancelled then", async () => {
    const person = await subscriber();
    const { current_period_end: end } = await rowOf(person);
    const { url } = (await world.post("/api/billing/portal", person)).json();
    await fetch(`${url}/card`, { method: "POST", redirect: "manual", body: new URLSearchParams({ card: "declined" }) });
    await world.moveTo(afterRenewal(end));
    expect(await check(person)).toMatchObject({ status: "past_due" });
    expect((await preview(person, "basic_month")).json()).toMatchObject({ status: 409, code: "plan_unpaid" });
    expect((await cancel(person)).json()).toMatchObject({ status: "past_due", cancel_at_period_end: true });
  });

  test("by what Stripe has, and not by our row, which may be late", async () => {
    const person = await subscriber();
    await world.database.db.updateTable("user_subscriptions").set({ status: "past_due" }).where("user_id", "=", person.userId).execute();
    expect((await preview(person, "basic_month")).statusCode).toBe(200);
    await world.deps.payments.subscriptions.cancel((await rowOf(person)).stripe_subscription_id);
    expect((await preview(person, "basic_month")).json().code).toBe("no_running_plan");
  });

  test("as changed by somebody else, and not as an outage, if Stripe refuses it however often it is read again", async () => {
    const person = await subscriber();
    let tries = 0;
    const refused = changeRunning(world.deps, person.userId, async ({ subscription: { id } }) => {
      tries += 1;
      await world.deps.payments.subscriptions.update(id, { cancel_at_period_end: true, cancel_at: Math.floor(start.getTime() / 1000) });
    });
    await expect(refused).rejects.toMatchObject({ code: "conflict" });
    expect([tries, (await atStripe(person)).cancel_at]).toEqual([4, null]);
  });

  test("while a payment is disputed; the plan can be cancelled then", async () => {
    const person = await subscriber();
    await world.database.asOwner(`update wallets set frozen_at = now() where billing_account_id = payer_of('${person.userId}')`);
    const seen = { effectiveAt: start.toISOString(), amountCents: 1 } as PlanChangePreview;
    for (const answer of [await preview(person, "basic_month"), await confirm(person, "basic_month", seen)])
      expect(answer.json()).toMatchObject({ status: 402, code: "wallet_frozen" });
    expect((await cancel(person)).statusCode).toBe(200);
    await world.database.asOwner("update wallets set frozen_at = null");
  });
});
