/**
 * How plans that were paid by bank transfer end: withdrawing is the same function as for a card, and the team transfers the money back and records
 * that; a recorded transfer is not lost to an end that comes before its job.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { InvoicePage } from "#contract/invoices.ts";
import type { TransferInvoice, TransferReturn } from "#contract/transfers.ts";
import type { Contract, Withdrawals } from "#contract/withdrawals.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { plans } from "#domain/plans.ts";
import { endAtStripe } from "#server/features/billing/end-at-stripe.ts";
import { payBack } from "#server/features/billing/pay-back.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { settleTransfer } from "#server/features/billing/transfers.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { sweepBatch } from "#server/features/retention/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { payerIdOf } from "../support/payers.ts";
import { mailsTo, spend, walletOf } from "../support/returns.ts";

const { monthlyCredits, monthlyPriceCents } = plans.enterprise;
let world: BillingWorld;
let admin: Person;
beforeAll(async () => {
  world = await startBillingWorld({}, new Date("2026-01-10T12:00:00Z"));
  admin = await world.person();
  await world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
});
afterEach(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
});
afterAll(() => world.close());

/** Does the jobs as the worker does, each so often, and brings Stripe's events. */
async function settle(times = 1): Promise<void> {
  const { db } = world.database;
  const rows = await db
    .selectFrom("outbox")
    .select(["job", "payload"])
    .where("job", "in", ["settle-transfer", "pay-back"])
    .orderBy("id")
    .execute();
  for (const { job, payload } of Array.from({ length: times }, () => rows).flat()) {
    if (job === "pay-back") await payBack(world.deps, (payload as { requestId: string }).requestId);
    else await settleTransfer(world.deps, (payload as { reference: string }).reference);
  }
  await db.deleteFrom("outbox").where("job", "in", ["settle-transfer", "pay-back"]).execute();
  await world.settle();
}

async function order(interval: "month" | "year" = "month"): Promise<{ person: Person; invoiceId: string; amountCents: number }> {
  const person = await world.person();
  await world.post("/api/admin/transfers/offer", admin, { email: person.email, interval, daysUntilDue: 14 });
  const consent = consentTo(`enterprise_${interval}`);
  const placed = (await world.post("/api/billing/transfer-offer/order", person, { consent })).json<TransferInvoice>();
  await world.settle();
  return { person, invoiceId: placed.invoiceId, amountCents: placed.amountCents };
}

/** Somebody whose transfer has arrived, under their own address as the reference. */
async function payer(interval: "month" | "year" = "month") {
  const ordered = await order(interval);
  const { invoiceId, amountCents, person } = ordered;
  const received = { reference: person.email, invoiceId, amountCents, currency: "usd", reason: "Bank statement" };
  expect((await world.post("/api/admin/transfers", admin, received)).statusCode).toBe(204);
  await settle();
  return ordered;
}

const contractsOf = async ({ headers }: Person) =>
  (await world.app.inject({ url: "/api/billing/withdrawals", headers })).json<Withdrawals>().contracts;
const withdraw = (person: Person, contractId: string) => world.post("/api/billing/withdrawals", person, { contractId });
const openReturns = async () =>
  (await world.app.inject({ url: "/api/admin/transfers/returns", headers: admin.headers })).json<{ returns: TransferReturn[] }>().returns;
const giveBack = (invoiceId: string, amountCents: number, others: object = {}, clerk = admin) =>
  world.post("/api/admin/transfers/returned", clerk, {
    ...{ reference: `back ${invoiceId}`, invoiceId, amountCents, currency: "usd", reason: "Withdrawn from" },
    ...others,
  });
const statusOf = async (person: Person) =>
  (await world.post("/api/functions/reliable-subscription-check", person)).json<{ status: string }>().status;
const invoicesOf = async ({ headers }: Person) =>
  (await world.app.inject({ url: "/api/billing/invoices", headers })).json<InvoicePage>().invoices;
async function findingsOf({ userId }: Person) {
  const payerId = await payerIdOf(world.database.db, userId);
  const { db } = world.database;
  return db.selectFrom("findings").select(["kind", "resolved_by"]).where("billing_account_id", "=", payerId).orderBy("id").execute();
}

test("pays the unspent share: the plan ends and its credits go at once, the team is told the sum, and its record settles it", async () => {
  const { person, invoiceId } = await payer();
  await spend(world, person, 250);
  const amountCents = Math.ceil((monthlyPriceCents * (monthlyCredits - 250)) / monthlyCredits);
  const [contract] = await contractsOf(person);
  expect(contract).toMatchObject({ id: invoiceId, state: "open", amountCents, byTransfer: true, unspentCredits: monthlyCredits - 250 });
  const answers = await Promise.all(Array.from({ length: 5 }, () => withdraw(person, invoiceId)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 202, 202, 202]);
  expect(answers[4]?.json<Contract>()).toMatchObject({ state: "withdrawn", amountCents, byTransfer: true });
  expect((await walletOf(world, person)).balance).toBe(0);
  await settle(2);
  expect(await statusOf(person)).toBe("canceled");
  expect(await mailsTo(world, person, "withdrawal-received", "payment-refunded")).toMatchObject([
    { template: "withdrawal-received", amountCents, variant: "transfer", plan: "enterprise" },
  ]);
  expect(await openReturns()).toContainEqual({
    ...{ invoiceId, reference: person.email, amountCents, currency: "usd" },
    ...{ askedAt: "2026-01-10T12:00:00.000Z", dueAt: "2026-01-24T12:00:00.000Z" },
  });
  expect(await invoicesOf(person)).toMatchObject([{ state: "paid", refundedCents: 0 }]);

  const recordings = await Promise.all(Array.from({ length: 5 }, () => giveBack(invoiceId, amountCents)));
  expect(recordings.map(({ statusCode }) => statusCode)).toEqual([204, 204, 204, 204, 204]);
  await settle(2);
  expect(await openReturns()).toEqual([]);
  expect(await invoicesOf(person)).toMatchObject([{ state: "paid", refundedCents: amountCents }]);
  expect(await mailsTo(world, person, "payment-refunded")).toMatchObject([
    { amountCents, credits: monthlyCredits - 250, left: 0, variant: "transfer" },
  ]);
  const acts = await world.database.db
    .selectFrom("audit_events")
    .select(["action", "details"])
    .where("action", "=", "transfer.returned")
    .execute();
  expect(acts).toEqual([{ action: "transfer.returned", details: { amountCents } }]);
});

test("of an annual plan the months to come are unspent, and none of them is posted any more", async () => {
  const { person, invoiceId, amountCents: paid } = await payer("year");
  await spend(world, person, 300);
  const granted = 12 * monthlyCredits;
  const amountCents = Math.ceil((paid * (granted - 300)) / granted);
  expect(await contractsOf(person)).toMatchObject([{ amountCents, grantedCredits: granted }]);
  await withdraw(person, invoiceId);
  expect(await contractsOf(person)).toMatchObject([{ state: "withdrawn", grantedCredits: granted }]);
  await settle();
  const payerId = await payerIdOf(world.database.db, person.userId);
  const open = world.database.db.selectFrom("scheduled_grants").select("key").where("billing_account_id", "=", payerId);
  expect(await open.where("posted_at", "is", null).where("cancelled_at", "is", null).execute()).toEqual([]);
  expect((await walletOf(world, person)).balance).toBe(0);
  await giveBack(invoiceId, amountCents);
});

test("is refused as a withdrawal of any other plan is, and the record if it is not what is owed", async () => {
  const { person, invoiceId } = await payer();
  const codeOf = async (others: object, clerk = admin) => (await giveBack(invoiceId, monthlyPriceCents, others, clerk)).json().code;
  expect(await codeOf({})).toBe("not_found");
  expect((await withdraw(admin, invoiceId)).json().code).toBe("not_found");
  await withdraw(person, invoiceId);
  expect(await codeOf({}, person)).toBe("not_found");
  expect(await codeOf({ amountCents: 1 })).toBe("conflict");
  expect(await codeOf({ currency: "eur" })).toBe("conflict");
  expect(await codeOf({ reason: "" })).toBe("validation_failed");
  expect((await giveBack(invoiceId, monthlyPriceCents)).statusCode).toBe(204);
  expect(await codeOf({ reference: "again" })).toBe("conflict");
  const other = await payer();
  await withdraw(other.person, other.invoiceId);
  const taken = await giveBack(other.invoiceId, monthlyPriceCents, { reference: `back ${invoiceId}` });
  expect(taken.json().code).toBe("idempotency_conflict");
  const third = await payer();
  await withdraw(third.person, third.invoiceId);
  const reference = { reference: "one for two" };
  const both = await Promise.all([other, third].map((one) => giveBack(one.invoiceId, monthlyPriceCents, reference)));
  expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
  for (const one of [other, third]) await giveBack(one.invoiceId, monthlyPriceCents);
});

test("a transfer that the bank takes back after it leaves nothing to return, and what was spent is owed", async () => {
  const { person, invoiceId } = await payer();
  await spend(world, person, 10);
  await withdraw(person, invoiceId);
  const reversed = { reference: person.email, reason: "The bank took it back" };
  expect((await world.post("/api/admin/transfers/reverse", admin, reversed)).statusCode).toBe(204);
  await settle();
  expect(await openReturns()).toEqual([]);
  expect((await walletOf(world, person)).balance).toBe(-10);
  expect((await giveBack(invoiceId, 1)).json().code).toBe("conflict");
});

test.each([
  [
    "the sweep that ends unpaid plans, which it keeps from doing so",
    "active",
    () => world.moveTo(addMilliseconds(world.clock.now(), 15 * dayMs)),
  ],
  [
    "the end of the plan, which does not void its invoice",
    "canceled",
    (subscription: string) => endAtStripe(world.deps, subscription, "account-deleted"),
  ],
] as const)("a transfer that is recorded in time, while no job runs, is not lost to %s", async (_what, status, act) => {
  const { person, invoiceId, amountCents } = await order();
  const received = { reference: person.email, invoiceId, amountCents, currency: "usd", reason: "Bank statement" };
  expect((await world.post("/api/admin/transfers", admin, received)).statusCode).toBe(204);
  const ordered = world.database.db.selectFrom("bank_transfers").select("stripe_subscription_id").where("reference", "=", person.email);
  await act((await ordered.executeTakeFirstOrThrow()).stripe_subscription_id);
  await settle();
  expect([await statusOf(person), (await invoicesOf(person))[0]?.state]).toEqual([status, "paid"]);
});

test("money that nobody transferred back is a finding before the fourteen days are over, until it is recorded", async () => {
  const { person, invoiceId } = await payer();
  await withdraw(person, invoiceId);
  await settle();
  world.clock.moveTo(addMilliseconds(world.clock.now(), 10 * dayMs - 1));
  await reconcileBilling(world.deps);
  expect(await findingsOf(person)).toEqual([]);
  world.clock.moveTo(addMilliseconds(world.clock.now(), 1));
  await reconcileBilling(world.deps);
  await reconcileBilling(world.deps);
  expect(await findingsOf(person)).toEqual([{ kind: "unreturned_transfer", resolved_by: null }]);
  await giveBack(invoiceId, monthlyPriceCents);
  await reconcileBilling(world.deps);
  expect(await findingsOf(person)).toEqual([{ kind: "unreturned_transfer", resolved_by: "itself" }]);
});

test("an order that nobody pays is void when its invoice is due, and is deleted; one that can be paid or was paid stays", async () => {
  const [paid, unpaid] = [await payer(), await order()];
  const ordersOf = async ({ userId }: Person) => {
    const payerId = await payerIdOf(world.database.db, userId);
    return (await world.database.db.selectFrom("orders").select("id").where("billing_account_id", "=", payerId).execute()).length;
  };
  const sweep = async () => {
    await sweepBatch(world.deps.db, "unpaidOrders", 100);
    return [await ordersOf(paid.person), await ordersOf(unpaid.person)];
  };
  // For PostgreSQL's clock it is long ago (retention.test.ts has the period), but its invoice is open.
  expect(await sweep()).toEqual([1, 1]);
  await world.moveTo(addMilliseconds(world.clock.now(), 15 * dayMs));
  await world.settle();
  expect(await invoicesOf(unpaid.person)).toMatchObject([{ state: "void" }]);
  expect(await sweep()).toEqual([1, 0]);
});
