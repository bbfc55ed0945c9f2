/** Each damage that the check of one's payments must find by itself: what it says, what the books are after it, and that it is not done twice. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { PaymentCheck } from "#contract/billing/doctor.ts";
import type { InvoicePage } from "#contract/billing/invoices.ts";
import { hourMs, minuteMs } from "#domain/clock.ts";
import { findPayer } from "#server/db/payer.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { loseClawbacks, loseGrant } from "../support/damages.ts";
import { chargeOf, decideDispute, hold, openDispute, spend, subscribe, walletOf } from "../support/returns.ts";

let world: BillingWorld;

beforeAll(async () => {
  world = await startBillingWorld();
});
afterEach(async () => {
  expect(await findDisagreements(world.database.db)).toEqual([]);
  await world.endPlans();
});
afterAll(() => world.close());

const payerOf = async ({ userId }: Person) => (await findPayer(world.database.db, userId)) ?? "";

async function check(person: Person): Promise<PaymentCheck["items"]> {
  const answer = await world.post("/api/billing/doctor", person);
  expect(answer.statusCode, answer.body).toBe(200);
  const { complete, items } = answer.json<PaymentCheck>();
  expect(complete).toBe(true);
  return items;
}

async function grantsOf(person: Person) {
  return world.database.db
    .selectFrom("grants")
    .innerJoin("wallets", "wallets.id", "grants.wallet_id")
    .selectAll("grants")
    .where("billing_account_id", "=", await payerOf(person))
    .orderBy("grants.id")
    .execute();
}

/** How many entries the person's books have: a check that does nothing adds none. */
async function entriesOf(person: Person): Promise<number> {
  const { rows } = await world.database.pool.query<{ entries: number }>(
    "select count(*)::int as entries from ledger_entries e join wallets w on w.id = e.wallet_id where billing_account_id = $1",
    [await payerOf(person)],
  );
  return rows[0]?.entries ?? -1;
}

/** The check says `said`, and whoever asks again hears that everything is right, and gets nothing more. */
async function mends(person: Person, said: PaymentCheck["items"], wallet: { balance: number; available?: number }): Promise<void> {
  expect(await check(person)).toEqual(said);
  expect(await walletOf(world, person)).toMatchObject(wallet);
  const entries = await entriesOf(person);
  expect(await check(person)).toEqual([]);
  expect(await walletOf(world, person)).toMatchObject(wallet);
  expect(await entriesOf(person)).toBe(entries);
}

const findingsOf = async (person: Person) =>
  world.database.db
    .selectFrom("findings")
    .select(["kind", "resolved_by", "times_seen"])
    .where("billing_account_id", "=", await payerOf(person))
    .execute();

const booked = (amountCents: number, credits: number) =>
  ({ kind: "payment_booked", paidAt: expect.stringMatching(/^2026-03-10T/), amountCents, credits }) as const;

async function buyPack(person: Person): Promise<void> {
  const opened = await world.post("/api/billing/packs/checkout", person, { pack: "pack_100", consent: consentTo("pack_100") });
  await world.pay(opened.json<{ url: string }>().url);
  await world.settle();
}

test("a hold that nobody ended gives its credits back", async () => {
  const person = await subscribe(world);
  await hold(world, person, 40, new Date(Date.now() - 11 * minuteMs));
  expect(await walletOf(world, person)).toMatchObject({ balance: 300, held: 40, available: 260 });
  await mends(person, [{ kind: "credits_released", credits: 40 }], { balance: 300, available: 300 });
  expect(await walletOf(world, person)).toMatchObject({ held: 0 });
  expect(await findingsOf(person)).toEqual([{ kind: "stale_hold", resolved_by: "doctor", times_seen: 1 }]);
});

test("a hold whose answer may still come stays", async () => {
  const person = await subscribe(world);
  await hold(world, person, 40, new Date(Date.now() + hourMs));
  await mends(person, [], { balance: 300, available: 260 });
});

test("the lost credits of a recorded payment are given under their own key, once", async () => {
  const person = await subscribe(world);
  const [grant] = await grantsOf(person);
  await loseGrant(world.database, grant?.id ?? "");
  expect(await walletOf(world, person)).toMatchObject({ balance: 0 });
  await mends(person, [booked(1999, 300)], { balance: 300 });
  expect(await grantsOf(person)).toMatchObject([{ source_key: grant?.source_key, expires_at: grant?.expires_at, credits: 300 }]);
  expect(await findingsOf(person)).toEqual([{ kind: "missing_grant", resolved_by: "doctor", times_seen: 1 }]);
});

test("the lost credits of a recorded pack are given under their own key, once", async () => {
  const person = await subscribe(world);
  await buyPack(person);
  const pack = (await grantsOf(person)).find(({ kind }) => kind === "pack");
  await loseGrant(world.database, pack?.id ?? "");
  expect(await walletOf(world, person)).toMatchObject({ balance: 300 });
  await mends(person, [booked(799, 100)], { balance: 400 });
  expect((await grantsOf(person)).find(({ kind }) => kind === "pack")).toMatchObject({ source_key: pack?.source_key, credits: 100 });
});

test("a refund that our books never heard of takes its credits, and what was spent of them is debt", async () => {
  const person = await subscribe(world);
  await spend(world, person, 100);
  await world.deps.payments.refunds.create({ charge: await chargeOf(world, person) });
  await world.takeEvents();
  await mends(person, [{ kind: "refund_booked" }], { balance: -100 });
  const { invoices } = (await world.app.inject({ url: "/api/billing/invoices", headers: person.headers })).json<InvoicePage>();
  expect(invoices).toMatchObject([{ state: "refunded", refundedCents: 1999 }]);
  expect(await findingsOf(person)).toEqual([{ kind: "unbooked_return", resolved_by: "doctor", times_seen: 1 }]);
});

test("a lost dispute that our books never heard of takes its credits", async () => {
  const person = await subscribe(world);
  await decideDispute(world, await openDispute(world, await chargeOf(world, person)), "lost");
  await world.takeEvents();
  await mends(person, [{ kind: "refund_booked" }], { balance: 0 });
  expect(await walletOf(world, person)).toMatchObject({ frozen: false });
});

test("an open dispute that our books never heard of freezes the wallet, which keeps its credits", async () => {
  const person = await subscribe(world);
  await openDispute(world, await chargeOf(world, person));
  await world.takeEvents();
  await mends(person, [{ kind: "refund_booked" }], { balance: 300, available: 0 });
  expect(await walletOf(world, person)).toMatchObject({ frozen: true });
});

test("a refund that is recorded and whose credits were never taken takes them, in part as in full", async () => {
  const person = await subscribe(world);
  const charge = await chargeOf(world, person);
  for (const [amount, left] of [
    [333, 251],
    [1666, 0],
  ] as const) {
    await world.deps.payments.refunds.create({ charge, amount });
    await world.settle();
    expect(await walletOf(world, person)).toMatchObject({ balance: left });
    await loseClawbacks(world.database, charge);
    expect(await walletOf(world, person)).toMatchObject({ balance: 300 });
    await mends(person, [{ kind: "refund_booked" }], { balance: left });
  }
});

test("a lost dispute that is recorded and whose credits were never taken takes them; what had expired is not asked for", async () => {
  const person = await subscribe(world);
  const charge = await chargeOf(world, person);
  await decideDispute(world, await openDispute(world, charge), "lost");
  await world.settle();
  await loseClawbacks(world.database, charge);
  await spend(world, person, 20);
  await mends(person, [{ kind: "refund_booked" }], { balance: -20 });

  const late = await subscribe(world);
  const lateCharge = await chargeOf(world, late);
  await spend(world, late, 30);
  await world.deps.payments.subscriptions.cancel((await subscriptionOf(late)) ?? "");
  await world.settle();
  await world.moveTo(new Date("2026-04-20T09:30:00Z"));
  expect(await walletOf(world, late)).toMatchObject({ balance: 0 });
  await world.deps.payments.refunds.create({ charge: lateCharge });
  await world.settle();
  expect(await walletOf(world, late)).toMatchObject({ balance: -30 });
  await mends(late, [], { balance: -30 });
  await loseClawbacks(world.database, lateCharge);
  await mends(late, [{ kind: "refund_booked" }], { balance: -30 });
});

test("an invoice whose sums, tax or credit notes our list has wrongly is read again; one that is right is not", async () => {
  const person = await subscribe(world);
  await world.deps.payments.refunds.create({ charge: await chargeOf(world, person), amount: 500 });
  await world.settle();
  const { db } = world.database;
  const payer = await payerOf(person);
  const read = () => db.selectFrom("invoices").selectAll().where("billing_account_id", "=", payer).executeTakeFirstOrThrow();
  const { updated_at: _at, ...right } = await read();
  expect(right).toMatchObject({ refunded_cents: 500, credit_notes: [{ amountCents: 500 }] });
  const { balance } = await walletOf(world, person);
  await mends(person, [], { balance });
  const damages = [
    { refunded_cents: 0 },
    { tax_cents: 319, tax_percent: 19 },
    { tax_location_missing: true },
    { credit_notes: "[]" },
    { credit_notes: JSON.stringify([{ ...right.credit_notes[0], amountCents: 499 }]) },
    { total_cents: 1_000 },
  ];
  for (const damage of damages) {
    // More checks than the person may make in an hour.
    await db.updateTable("payment_checks").set({ checks: 0 }).where("billing_account_id", "=", payer).execute();
    await db.updateTable("invoices").set(damage).where("billing_account_id", "=", payer).execute();
    await mends(person, [{ kind: "invoice_updated" }], { balance });
    expect(await read()).toMatchObject(right);
  }
});

async function subscriptionOf(person: Person): Promise<string | undefined> {
  const row = world.database.db.selectFrom("user_subscriptions").select("stripe_subscription_id").where("user_id", "=", person.userId);
  return (await row.executeTakeFirst())?.stripe_subscription_id;
}
