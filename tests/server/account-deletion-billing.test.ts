/** The subscription of a deleted account: cancelled first, resumed with the account if it was we who cancelled it, and ended with its customer. */
import { randomBytes } from "node:crypto";
import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { addMilliseconds, minuteMs } from "#domain/clock.ts";
import { deletionMs } from "#domain/periods.ts";
import { retireDeleted } from "#server/features/billing/former-customers.ts";
import { alignSubscription, endCustomer } from "#server/features/billing/leaving.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { eraseDueAccounts } from "#server/features/deletion/erase.ts";
import { processors } from "../../worker/processors/all.ts";
import { runJob } from "../../worker/run-job.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { payerIdOf } from "../support/payers.ts";
import { openDispute } from "../support/returns.ts";

let world: BillingWorld;
let ada: Person;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(async () => {
  expect(await findDisagreements(world.database.db)).toEqual([]);
  await world.close();
});
beforeEach(async () => {
  ada = await world.person();
});

const remove = () => world.post("/api/account/deletion", ada, { email: ada.email });
const setDeleteAt = (at: Date | null) =>
  world.database.db.updateTable("users").set({ delete_at: at }).where("id", "=", ada.userId).execute();
const restore = () => setDeleteAt(null);
const inAFortnight = () => addMilliseconds(world.clock.now(), deletionMs);

/** Runs the jobs as the worker does. */
async function runJobs(): Promise<void> {
  const rows = await world.database.db.selectFrom("outbox").selectAll().where("job", "=", "align-subscription").execute();
  for (const { id, job, payload } of rows) await runJob(world.deps, processors, { id, name: job, payload });
}

async function customerOf(): Promise<string> {
  const row = await world.database.db
    .selectFrom("billing_accounts")
    .select("stripe_customer_id")
    .where("id", "=", await payerIdOf(world.database.db, ada.userId))
    .executeTakeFirstOrThrow();
  return row.stripe_customer_id ?? "";
}

async function subscription(): Promise<Stripe.Subscription | undefined> {
  const found = await world.deps.payments.subscriptions.list({ customer: await customerOf(), status: "all", limit: 10 });
  return found.data[0];
}

const rowOf = () =>
  world.database.db
    .selectFrom("user_subscriptions")
    .select(["status", "cancel_at_period_end"])
    .where("user_id", "=", ada.userId)
    .executeTakeFirst();

async function mailsTo(): Promise<string[]> {
  const rows = await world.database.db.selectFrom("mails").select("template").where("recipient", "=", ada.email).orderBy("id").execute();
  return rows.map(({ template }) => template);
}

test("it is cancelled to the end of its period at once, and resumed with the account", async () => {
  await world.buy(ada);
  await world.settle();
  expect((await remove()).statusCode).toBe(202);
  await runJobs();
  expect(await subscription()).toMatchObject({ status: "active", cancel_at_period_end: true });
  expect(await rowOf()).toEqual({ status: "active", cancel_at_period_end: true });
  await restore();
  await alignSubscription(world.deps, ada.userId);
  expect(await subscription()).toMatchObject({
    status: "active",
    cancel_at_period_end: false,
    metadata: expect.not.objectContaining({ cancelled_for: expect.anything() }),
  });
  expect(await rowOf()).toEqual({ status: "active", cancel_at_period_end: false });
});

test("what the person cancelled themselves before stays cancelled when they come back", async () => {
  await world.buy(ada);
  await world.settle();
  const { id } = (await subscription()) ?? { id: "" };
  await world.deps.payments.subscriptions.update(id, { cancel_at_period_end: true }, { idempotencyKey: randomBytes(8).toString("hex") });
  await setDeleteAt(inAFortnight());
  await alignSubscription(world.deps, ada.userId);
  await restore();
  await alignSubscription(world.deps, ada.userId);
  expect(await subscription()).toMatchObject({ cancel_at_period_end: true });
});

test("a planned change of plan does not keep it from being cancelled", async () => {
  await world.buy(ada);
  await world.settle();
  const { id } = (await subscription()) ?? { id: "" };
  await world.deps.payments.subscriptionSchedules.create({ from_subscription: id }, { idempotencyKey: randomBytes(8).toString("hex") });
  await setDeleteAt(inAFortnight());
  await alignSubscription(world.deps, ada.userId);
  expect(await subscription()).toMatchObject({ cancel_at_period_end: true, schedule: null });
});

test("of a deletion and a restoration whose jobs run late, twice and crossed, the account's state counts", async () => {
  await world.buy(ada);
  await world.settle();
  await setDeleteAt(inAFortnight());
  const real = world.deps.payments.subscriptions.update.bind(world.deps.payments.subscriptions);
  let crossed = false;
  // The person comes back, and their job is done, while the job of the deletion is about to write.
  world.deps.payments.subscriptions.update = (async (...call: Parameters<typeof real>) => {
    if (!crossed) {
      crossed = true;
      await restore();
      await alignSubscription(world.deps, ada.userId);
    }
    return real(...call);
  }) as typeof real;
  await alignSubscription(world.deps, ada.userId);
  world.deps.payments.subscriptions.update = real;
  expect(crossed).toBe(true);
  expect(await subscription()).toMatchObject({ cancel_at_period_end: false });
});

test("a payment page that is open in another tab can't be paid any more", async () => {
  const { url } = await world.checkout(ada, "starter_month");
  await remove();
  await runJobs();
  await world.pay(url).catch(() => {});
  await world.settle();
  expect(await subscription()).toBeUndefined();
  expect(await mailsTo()).toEqual(["account-deleted"]);
});

test("no mail tells of payments while the account is deleted", async () => {
  await world.buy(ada);
  await setDeleteAt(inAFortnight());
  await world.settle();
  expect(await rowOf()).toMatchObject({ status: "active" });
  expect(await mailsTo()).toEqual([]);
});

test("after 14 days subscription and customer end at Stripe, and the books keep what they knew without a person", async () => {
  await world.buy(ada, "starter_year");
  const bought = await world.takeEvents();
  // Stripe delivers one of the events only after the account was erased.
  const late = bought.filter(({ type }) => type === "invoice.finalized");
  await world.bring(bought.filter((event) => !late.includes(event)));
  const [payer, customer] = [await payerIdOf(world.database.db, ada.userId), await customerOf()];
  await remove();
  await runJobs();
  await world.moveTo(addMilliseconds(inAFortnight(), minuteMs));
  await eraseDueAccounts(world.deps, world.clock.now());
  expect(await world.deps.payments.customers.retrieve(customer)).toMatchObject({ deleted: true });
  // Stripe tells of it later; the events find nobody and harm nothing.
  await world.settle();
  await world.bring(late);
  const { db } = world.database;
  expect(late).toHaveLength(1);
  expect(await db.selectFrom("users").select("id").where("id", "=", ada.userId).execute()).toEqual([]);
  const changes = db.selectFrom("subscription_changes").select("status").where("billing_account_id", "=", payer).orderBy("id");
  expect((await changes.execute()).map(({ status }) => status).at(-1)).toBe("canceled");
  expect(await db.selectFrom("paid_invoices").select("billing_account_id").where("billing_account_id", "=", payer).execute()).toHaveLength(
    1,
  );
  const account = db.selectFrom("billing_accounts").select("stripe_customer_id").where("id", "=", payer);
  expect(await account.execute()).toEqual([{ stripe_customer_id: null }]);
  const events = await db.selectFrom("stripe_events").select(["type", "payload"]).execute();
  expect(events.filter((event) => JSON.stringify(event).includes(ada.email)).map(({ type }) => type)).toEqual([]);
  const waiting = db.selectFrom("scheduled_grants").select("key").where("billing_account_id", "=", payer).where("posted_at", "is", null);
  expect(await waiting.where("cancelled_at", "is", null).execute()).toEqual([]);
});

test("of a customer that was deleted at Stripe before, nothing leads to the person either, and what Stripe said of it goes", async () => {
  const { db } = world.database;
  await world.buy(ada);
  await world.settle();
  const [payer, former] = [await payerIdOf(db, ada.userId), await customerOf()];
  await world.deps.payments.customers.del(former);
  await world.settle();
  await world.buy(ada);
  await world.settle();
  expect(await customerOf()).not.toBe(former);
  await setDeleteAt(addMilliseconds(world.clock.now(), -1));
  await endCustomer(world.deps, ada.userId);
  // Stripe's word of the deletion comes before the rows go.
  await world.settle();
  expect(await customerOf()).toBe("");
  const ofAda = async () =>
    (await db.selectFrom("stripe_events").select(["type", "payload"]).execute()).flatMap((event) =>
      JSON.stringify(event).includes(ada.email) ? [event.type] : [],
    );
  expect(await ofAda()).not.toEqual([]);
  await eraseDueAccounts(world.deps, world.clock.now());
  expect(await ofAda()).toEqual([]);
  expect(await db.selectFrom("former_customers").selectAll().where("billing_account_id", "=", payer).execute()).toEqual([]);
  await world.settle();
  expect(await ofAda()).toEqual([]);
  // A deletion that was read before the account went is written after it.
  expect(await retireDeleted(world.deps, payer, former)).toBe(true);
  expect(await db.selectFrom("former_customers").selectAll().where("billing_account_id", "=", payer).execute()).toEqual([]);
});

test("the end of a plan whose customer was deleted at Stripe before is in the books, though no event told of it", async () => {
  const { db } = world.database;
  await world.buy(ada);
  await world.settle();
  const payer = await payerIdOf(db, ada.userId);
  await world.deps.payments.customers.del(await customerOf());
  await world.bring((await world.takeEvents()).filter(({ type }) => type === "customer.deleted"));
  expect([await customerOf(), await rowOf()]).toEqual(["", expect.objectContaining({ status: "active" })]);
  await setDeleteAt(addMilliseconds(world.clock.now(), -1));
  await eraseDueAccounts(world.deps, world.clock.now());
  const changes = db.selectFrom("subscription_changes").select("status").where("billing_account_id", "=", payer);
  expect((await changes.orderBy("id", "desc").executeTakeFirst())?.status).toBe("canceled");
});

test("of disputes and refunds, whose messages name no customer but can name the person, no content is kept", async () => {
  await world.buy(ada);
  await world.settle();
  const [{ data: charges }, { db }] = [await world.deps.payments.charges.list({ customer: await customerOf() }), world.database];
  await world.deps.payments.refunds.create({ charge: String(charges[0]?.id), amount: 100 });
  await openDispute(world, String(charges[0]?.id));
  const events = (await world.takeEvents()).filter(({ type }) => /^(refund|charge\.dispute|charge\.refund)\./.test(type));
  const named = events.map((event) => ({
    ...event,
    data: { object: { ...event.data.object, evidence: { customer_name: "Ada Lovelace" } } },
  }));
  await world.bring(named as unknown as Stripe.Event[]);
  expect(new Set(events.map(({ type }) => type.split(".")[0]))).toEqual(new Set(["refund", "charge"]));
  const kept = await db.selectFrom("stripe_events").select(["type", "payload"]).execute();
  expect(kept.filter((event) => JSON.stringify(event).includes("Lovelace")).map(({ type }) => type)).toEqual([]);
});

test("while Stripe is down the account waits, and others that have no customer are erased", async () => {
  await world.buy(ada);
  await world.settle();
  const other = await world.person();
  for (const person of [ada, other])
    await world.database.db
      .updateTable("users")
      .set({ delete_at: addMilliseconds(world.clock.now(), -1) })
      .where("id", "=", person.userId)
      .execute();
  const { subscriptions } = world.deps.payments;
  const list = subscriptions.list.bind(subscriptions);
  subscriptions.list = (async () => {
    throw Object.assign(new Error("down"), { type: "StripeConnectionError" });
  }) as never;
  await expect(eraseDueAccounts(world.deps, world.clock.now())).rejects.toThrow("down");
  subscriptions.list = list;
  const left = world.database.db.selectFrom("users").select("id").where("id", "in", [ada.userId, other.userId]);
  expect(await left.execute()).toEqual([{ id: ada.userId }]);
  expect(await eraseDueAccounts(world.deps, world.clock.now())).toBe(1);
  expect(await left.execute()).toEqual([]);
});

test("a deletion that dies after each call to Stripe is finished by the next run", async () => {
  await world.buy(ada);
  await world.settle();
  const payer = await payerIdOf(world.database.db, ada.userId);
  await setDeleteAt(addMilliseconds(world.clock.now(), -1));
  const { subscriptions, customers } = world.deps.payments;
  const broken = (real: (...call: never[]) => Promise<unknown>) =>
    (async (...call: never[]) => {
      await real(...call);
      throw Object.assign(new Error("the worker died"), { type: "StripeConnectionError" });
    }) as never;
  const cancel = subscriptions.cancel.bind(subscriptions);
  subscriptions.cancel = broken(cancel);
  await expect(eraseDueAccounts(world.deps, world.clock.now())).rejects.toThrow("died");
  subscriptions.cancel = cancel;
  const del = customers.del.bind(customers);
  customers.del = broken(del as never);
  await expect(eraseDueAccounts(world.deps, world.clock.now())).rejects.toThrow("died");
  customers.del = del;
  expect(await eraseDueAccounts(world.deps, world.clock.now())).toBe(1);
  // Its end is in the books, though no event of it was taken while the customer was known: it counts as revenue no more.
  const changes = world.database.db.selectFrom("subscription_changes").select("status").where("billing_account_id", "=", payer);
  expect((await changes.orderBy("id", "desc").executeTakeFirst())?.status).toBe("canceled");
  expect(await rowOf()).toBeUndefined();
});
