/** What was paid for what is in columns, and every change of a subscription stays on record. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { payerOf } from "#server/db/payer.ts";
import { processStripeEvent } from "#server/features/billing/process-event.ts";
import { createPayments } from "#server/providers/stripe.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld, stateOf } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { deliver } from "../support/billing-world.ts";
import { startHttpProxy } from "../support/http-proxy.ts";
import { customerOf, joinAccountOf } from "../support/payers.ts";
import { plantBug, plantTrigger } from "../support/planted-bugs.ts";

let world: BillingWorld;
const start = new Date("2026-03-10T09:30:00Z");
const monthEnd = new Date("2026-04-10T09:30:00Z");

beforeAll(async () => {
  world = await startBillingWorld({}, start);
});
afterEach(() => world.endPlans());
afterAll(() => world.close());

async function subscriber(priceId: string): Promise<Person> {
  const person = await world.person();
  await world.buy(person, priceId);
  await world.settle();
  return person;
}

const rowOf = ({ userId }: Person) =>
  world.database.db.selectFrom("user_subscriptions").selectAll().where("user_id", "=", userId).executeTakeFirstOrThrow();
const scheduledOf = ({ userId }: Person) =>
  world.database.db
    .selectFrom("scheduled_grants")
    .selectAll()
    .where("billing_account_id", "=", payerOf(userId))
    .orderBy("due_at")
    .execute();
const changesOf = ({ userId }: Person) =>
  world.database.db
    .selectFrom("subscription_changes")
    .selectAll()
    .where("billing_account_id", "=", payerOf(userId))
    .orderBy("id")
    .execute();

async function grantsOf({ userId }: Person) {
  return world.database.db
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .select(["grants.credits", "grants.invoice_id", "grants.invoice_line_id", "grants.charge_id"])
    .where("wallets.billing_account_id", "=", payerOf(userId))
    .orderBy("grants.id")
    .execute();
}

async function paidOf(person: Person) {
  const { stripe_subscription_id: subscription } = await rowOf(person);
  const { data } = await world.deps.payments.invoices.list({ subscription, expand: ["data.payments"] });
  const [invoice] = data;
  const { data: charges } = await world.deps.payments.charges.list({ customer: String(invoice?.customer) });
  return { invoice_id: invoice?.id, invoice_line_id: invoice?.lines.data[0]?.id, charge_id: charges[0]?.id };
}

async function expectPaymentsNamed(): Promise<void> {
  const monthly = await subscriber("starter_month");
  expect(await grantsOf(monthly)).toEqual([{ credits: 300, ...(await paidOf(monthly)) }]);
  const annual = await subscriber("starter_year");
  const paid = await paidOf(annual);
  expect([paid.invoice_id, paid.invoice_line_id, paid.charge_id]).toEqual([
    expect.stringMatching(/^in_/),
    expect.stringMatching(/^il_/),
    expect.stringMatching(/^ch_/),
  ]);
  expect(await grantsOf(annual)).toEqual([{ credits: 300, ...paid }]);
  const scheduled = await scheduledOf(annual);
  expect(scheduled.map(({ invoice_id, invoice_line_id, charge_id }) => ({ invoice_id, invoice_line_id, charge_id }))).toEqual(
    Array.from({ length: 11 }, () => paid),
  );
}

test("grants, and the months that are to come, name the invoice, its line and the charge that paid for them", expectPaymentsNamed);

test.each([
  ["no charge on a grant", "grants", "new.charge_id := null; return new;"],
  ["no line on a grant", "grants", "new.invoice_line_id := null; return new;"],
  ["another invoice on the months to come", "scheduled_grants", "new.invoice_id := 'in_other'; return new;"],
])("which is noticed: a planted bug leaves %s", async (_name, table, body) => {
  const repair = await plantTrigger(world.database, "before insert", table, body);
  await expect(expectPaymentsNamed()).rejects.toMatchObject({ name: "AssertionError" });
  await repair();
});

test("the months of a subscription that ended are cancelled, and nobody else's, whatever the keys look like", async () => {
  const [ending, staying] = [await subscriber("starter_year"), await subscriber("starter_year")];
  await world.database.asOwner("update scheduled_grants set key = md5(key)");
  await world.deps.payments.subscriptions.cancel((await rowOf(ending)).stripe_subscription_id);
  await world.settle();
  const cancelled = async (person: Person) => (await scheduledOf(person)).filter(({ cancelled_at }) => cancelled_at !== null).length;
  expect([await cancelled(ending), await cancelled(staying)]).toEqual([11, 0]);
});

test("a paid proration is recorded with its amount, gives no credits, and the period it came with does", async () => {
  const person = await world.person();
  await world.buy(person, "starter_month");
  const events = (await world.takeEvents()).filter((event) => event.type === "invoice.paid");
  const withProration = (answer: string) => {
    const list = JSON.parse(answer);
    for (const invoice of list.data) {
      const [line] = invoice.lines.data;
      const proration = { ...line, id: `il_proration_${person.userId}`, amount: -500, parent: structuredClone(line.parent) };
      proration.parent.subscription_item_details.proration = true;
      invoice.lines.data.push(proration);
    }
    return JSON.stringify(list);
  };
  const proxy = await startHttpProxy(world.sandboxUrl, ({ path }, answer) => (path === "/v1/invoices" ? withProration(answer) : answer));
  const deps = { ...world.deps, payments: createPayments({ ...world.deps.config.stripe, apiUrl: proxy.url }) };
  for (const event of events) {
    await deliver(world, JSON.stringify(event));
    await processStripeEvent(deps, event.id);
  }
  await proxy.close();
  const paid = await paidOf(person);
  const lines = await world.database.db
    .selectFrom("paid_invoice_lines")
    .select(["id", "plan_key", "billing_interval", "proration", "amount_cents", "period_end"])
    .where("invoice_id", "=", paid.invoice_id ?? "")
    .orderBy("proration")
    .execute();
  const plan = { plan_key: "starter", billing_interval: "month", period_end: monthEnd };
  expect(lines).toEqual([
    { ...plan, id: paid.invoice_line_id, proration: false, amount_cents: 1999 },
    { ...plan, id: `il_proration_${person.userId}`, proration: true, amount_cents: -500 },
  ]);
  expect((await stateOf(world, person.userId)).wallet?.balance).toBe(300);
});

test("a subscription serves everybody for whom the account pays: one customer, one history, a row for each person", async () => {
  const [owner, second] = [await world.person(), await world.person()];
  await joinAccountOf(world.database, owner.userId, second.userId);
  await world.buy(second, "starter_year");
  await world.settle();
  const { user_id: ownerId, ...ownersRow } = await rowOf(owner);
  const { user_id: secondId, ...secondsRow } = await rowOf(second);
  expect([ownerId, secondId]).toEqual([owner.userId, second.userId]);
  expect(ownersRow).toEqual(secondsRow);
  expect(await changesOf(owner)).toHaveLength(1);
  expect(await scheduledOf(owner)).toHaveLength(11);
  for (const person of [owner, second]) {
    expect((await stateOf(world, person.userId)).wallet).toEqual({ balance: 300, held: 0 });
    expect((await world.checkout(person, "basic_month")).code).toBe("already_subscribed");
    expect((await world.post("/api/billing/portal", person)).statusCode).toBe(200);
  }
  const customer = await world.deps.payments.customers.retrieve(await customerOf(world.database.db, second.userId));
  expect(customer).toMatchObject({ email: owner.email });
  await world.deps.payments.subscriptions.cancel(ownersRow.stripe_subscription_id);
  await world.settle();
  for (const person of [owner, second]) expect(await rowOf(person)).toMatchObject({ status: "canceled" });
  expect((await changesOf(owner)).map(({ status }) => status)).toEqual(["active", "canceled"]);
});

describe("the history of a subscription", () => {
  async function planChange(person: Person, lookupKey: string): Promise<string> {
    const { stripe_subscription_id: subscription } = await rowOf(person);
    const { payments } = world.deps;
    const schedule = await payments.subscriptionSchedules.create({ from_subscription: subscription });
    const [current] = schedule.phases;
    const { data } = await payments.prices.list({ lookup_keys: [lookupKey] });
    await payments.subscriptionSchedules.update(schedule.id, {
      phases: [
        {
          items: [{ price: String(current?.items[0]?.price), quantity: 1 }],
          start_date: current?.start_date ?? 0,
          end_date: current?.end_date ?? 0,
        },
        { items: [{ price: data[0]?.id ?? "", quantity: 1 }], proration_behavior: "none" },
      ],
    });
    return schedule.id;
  }

  test("tells who had which plan at which price from when to when; the plan to come is on the row until it has come", async () => {
    const person = await subscriber("starter_month");
    expect(await rowOf(person)).toMatchObject({ price_cents: 1999, pending_plan_key: null, pending_interval: null, pending_from: null });
    await planChange(person, "basic_month");
    await world.settle();
    expect(await rowOf(person)).toMatchObject({
      ...{ plan_key: "starter", pending_plan_key: "basic", pending_interval: "month", pending_from: monthEnd },
    });
    await world.moveTo(new Date("2026-04-10T11:30:00Z"));
    expect(await rowOf(person)).toMatchObject({ plan_key: "basic", price_cents: 3999, pending_plan_key: null, pending_from: null });
    await world.deps.payments.subscriptions.cancel((await rowOf(person)).stripe_subscription_id);
    await world.settle();
    const spans = await world.database.pool.query(
      `select distinct plan_key, price_cents, min(valid_from) over span as from,
          case when status = 'canceled' then 'ended' end as ended
        from subscription_changes where billing_account_id = payer_of($1) window span as (partition by plan_key, price_cents, status = 'canceled') order by 3, 4 nulls first`,
      [person.userId],
    );
    expect(spans.rows).toEqual([
      { plan_key: "starter", price_cents: 1999, from: start, ended: null },
      { plan_key: "basic", price_cents: 3999, from: monthEnd, ended: null },
      { plan_key: "basic", price_cents: 3999, from: world.clock.now(), ended: "ended" },
    ]);
  });

  test("a plan to come that is taken back is no longer on the row", async () => {
    const person = await subscriber("starter_month");
    const schedule = await planChange(person, "basic_month");
    await world.settle();
    expect((await rowOf(person)).pending_plan_key).toBe("basic");
    await world.deps.payments.subscriptionSchedules.release(schedule);
    await world.settle();
    expect(await rowOf(person)).toMatchObject({ plan_key: "starter", pending_plan_key: null, pending_interval: null, pending_from: null });
  });

  async function expectOneRowEach(): Promise<void> {
    const person = await world.person();
    await world.buy(person, "starter_month");
    const events = await world.takeEvents();
    const again = events.map((event) => ({ ...event, id: `${event.id}again` }));
    await world.bring([...events, ...again, ...again.toReversed()]);
    expect((await changesOf(person)).map(({ plan_key, status, valid_from }) => [plan_key, status, valid_from])).toEqual([
      ["starter", "active", new Date(Math.floor(world.clock.now().getTime() / 1000) * 1000)],
    ]);
  }

  test("has one row for each change, however often its events come", expectOneRowEach);

  test("which is noticed: a planted bug forgets the price, so that each event looks like a change", async () => {
    const repair = await plantTrigger(world.database, "before insert", "subscription_changes", "new.price_cents := null; return new;");
    await expect(expectOneRowEach()).rejects.toMatchObject({ name: "AssertionError" });
    await repair();
  });

  test("of a subscription that ended before its events came, and that another has replaced, has its start and its end", async () => {
    const person = await world.person();
    await world.takeEvents();
    await world.buy(person, "starter_month");
    const customer = (await world.deps.payments.customers.list({ email: person.email })).data[0]?.id ?? "";
    const [first] = (await world.deps.payments.subscriptions.list({ customer })).data;
    world.clock.moveTo(new Date(world.clock.now().getTime() + 60_000));
    await world.deps.payments.subscriptions.cancel(first?.id ?? "");
    const older = await world.takeEvents();
    world.clock.moveTo(new Date(world.clock.now().getTime() + 60_000));
    await world.buy(person, "basic_month");
    await world.settle();
    await world.bring(older);
    const { stripe_subscription_id: second } = await rowOf(person);
    const seen = (await changesOf(person)).map((change) => [change.stripe_subscription_id, change.plan_key, change.status]);
    expect(seen).toEqual([
      [second, "basic", "active"],
      [first?.id, "starter", "active"],
      [first?.id, "starter", "canceled"],
    ]);
    const [, began, ended] = await changesOf(person);
    expect((ended?.valid_from.getTime() ?? 0) - (began?.valid_from.getTime() ?? 0)).toBe(60_000);
  });

  async function expectUnchangeable(): Promise<void> {
    const person = await subscriber("starter_month");
    const [change] = await changesOf(person);
    const where = `where id = '${change?.id}'`;
    for (const statement of [`update subscription_changes set price_cents = 1 ${where}`, `delete from subscription_changes ${where}`]) {
      await expect(world.deps.pool.query(statement)).rejects.toMatchObject({ code: "42501" });
      await expect(world.database.asOwner(statement)).rejects.toMatchObject({ code: "TS901" });
    }
    await expect(
      world.database.asOwner(`update subscription_changes set billing_account_id = '${randomUUID()}' ${where}`),
    ).rejects.toThrow();
    await expect(world.database.asOwner("truncate subscription_changes")).rejects.toMatchObject({ code: "TS901" });
    await world.database.asOwner(`delete from users where id = '${person.userId}'`);
    const left = await world.database.db
      .selectFrom("subscription_changes")
      .selectAll()
      .where("id", "=", change?.id ?? "")
      .execute();
    expect(left).toEqual([change]);
    const account = world.database.db.selectFrom("billing_accounts").select("stripe_customer_id");
    expect(await account.where("id", "=", change?.billing_account_id ?? "").execute()).toEqual([{ stripe_customer_id: null }]);
  }

  test("can't be changed, by the application or the owner; a deleted person's stays, of an account that names nobody", expectUnchangeable);

  test("which is noticed: a planted bug lets the owner change it", async () => {
    const repair = await plantBug(world.database, "subscription_changes_refuse", (source) =>
      source.replace(/raise exception [^;]*;/, "return coalesce(new, old);"),
    );
    await expect(expectUnchangeable()).rejects.toMatchObject({ name: "AssertionError" });
    await repair();
  });
});
