/**
 * How plans that were paid by bank transfer end. Withdrawing works as for a card, and the team transfers the money back and records that. A
 * recorded transfer is not lost if the plan ends before its job has run.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Needs } from "#contract/admin/needs.ts";
import type { InvoicePage } from "#contract/billing/invoices.ts";
import type { MoneyBack } from "#contract/billing/money-back.ts";
import type { TransferInvoice, TransferReturn } from "#contract/billing/transfers.ts";
import type { Contract, Withdrawals } from "#contract/billing/withdrawals.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { plans } from "#domain/plans.ts";
import { endAtStripe } from "#server/features/billing/end-at-stripe.ts";
import { payBack } from "#server/features/billing/pay-back.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { postDueScheduledGrants } from "#server/features/billing/schedules.ts";
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
  await world.endPlans();
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
  await world.post("/api/admin/transfers/offer", admin, { email: person.email, interval, daysUntilDue: 14, reason: "They asked for it" });
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

/** A card that the invoice's customer gives at Stripe. */
async function cardOf(invoiceId: string): Promise<string> {
  const { payments } = world.deps;
  const { customer } = await payments.invoices.retrieve(invoiceId);
  return (await payments.paymentMethods.attach("pm_card_visa", { customer: String(customer) })).id;
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

test("the money-back guarantee holds for it too: all of it once, the plan ends at once, and a mail tells when it was transferred back", async () => {
  const { person, invoiceId, amountCents } = await payer("year");
  await spend(world, person, 100);
  const { headers } = person;
  const shown = async () =>
    (await world.app.inject({ url: "/api/billing/money-back", headers })).json<{ moneyBack: MoneyBack }>().moneyBack;
  expect(await shown()).toMatchObject({ state: "open", amountCents, byTransfer: true, spentCredits: 100 });
  const answers = await Promise.all(Array.from({ length: 5 }, () => world.post("/api/billing/money-back", person)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 202, 202, 202]);
  expect(await contractsOf(person)).toMatchObject([{ state: "asked", amountCents }]);
  await settle(2);
  expect([await statusOf(person), (await walletOf(world, person)).balance]).toEqual(["canceled", -100]);
  const payerId = await payerIdOf(world.database.db, person.userId);
  const open = world.database.db.selectFrom("scheduled_grants").select("key").where("billing_account_id", "=", payerId);
  expect(await open.where("posted_at", "is", null).where("cancelled_at", "is", null).execute()).toEqual([]);
  expect(await openReturns()).toContainEqual(expect.objectContaining({ invoiceId, reference: person.email, amountCents }));
  expect(await shown()).toMatchObject({ state: "asked", amountCents });

  expect((await giveBack(invoiceId, amountCents)).statusCode).toBe(204);
  await settle(2);
  expect(await shown()).toMatchObject({ state: "returned", amountCents });
  expect(await contractsOf(person)).toMatchObject([{ state: "returned" }]);
  expect(await mailsTo(world, person, "payment-refunded")).toMatchObject([
    { amountCents, credits: monthlyCredits, left: -100, variant: "transferDebt" },
  ]);
  expect((await world.post("/api/billing/money-back", person)).json().code).toBe("nothing_to_refund");
});

test.each(["withdrawn from", "taken back by the bank"])(
  "a month that was due and not posted yet when a plan is %s never comes",
  async (how) => {
    const { person, invoiceId } = await payer("year");
    const payerId = await payerIdOf(world.database.db, person.userId);
    // No worker runs meanwhile. Withdrawing is possible for fourteen days, so the month is made due within them.
    await world.database.asOwner(
      `update scheduled_grants set due_at = '${world.clock.now().toISOString()}'::timestamptz - interval '1 minute'
       where key = (select key from scheduled_grants where billing_account_id = '${payerId}' order by due_at limit 1)`,
    );
    if (how === "withdrawn from") expect((await withdraw(person, invoiceId)).statusCode).toBe(202);
    else await world.post("/api/admin/transfers/reverse", admin, { reference: person.email, reason: "The bank took it back" });
    expect(await postDueScheduledGrants(world.deps, world.clock.now())).toBe(0);
    await settle(2);
    expect([await postDueScheduledGrants(world.deps, world.clock.now()), (await walletOf(world, person)).balance]).toEqual([0, 0]);
  },
);

test("the guarantee of a transfer that the bank took back has nothing to give", async () => {
  const { person } = await payer();
  await world.post("/api/admin/transfers/reverse", admin, { reference: person.email, reason: "The bank took it back" });
  await settle();
  expect((await world.post("/api/billing/money-back", person)).json().code).toBe("nothing_to_refund");
  for (const owed of await openReturns()) await giveBack(owed.invoiceId, owed.amountCents);
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

describe("money that went out twice, because the bank takes a transfer back that was transferred back", () => {
  /** Somebody who got the money back, and whose transfer the bank then took back. */
  async function twice() {
    const paid = await payer();
    await withdraw(paid.person, paid.invoiceId);
    expect((await waiting()).filter(({ invoiceId }) => invoiceId === paid.invoiceId)).toMatchObject([
      { side: "return", amountCents: paid.amountCents, email: paid.person.email, dueAt: expect.any(String) },
    ]);
    await giveBack(paid.invoiceId, paid.amountCents);
    expect((await waiting()).filter(({ invoiceId }) => invoiceId === paid.invoiceId)).toEqual([]);
    await world.post("/api/admin/transfers/reverse", admin, { reference: paid.person.email, reason: "The bank took it back" });
    await settle(2);
    return paid;
  }
  const waiting = async () => (await world.app.inject({ url: "/api/admin/needs", headers: admin.headers })).json<Needs>().transfers.rows;
  const reclaim = (invoiceId: string, others: object = {}, clerk = admin) =>
    world.post("/api/admin/transfers/reclaimed", clerk, {
      ...{ invoiceId, reference: `again ${invoiceId}`, amountCents: monthlyPriceCents, currency: "usd", reason: "Asked for by mail" },
      ...others,
    });
  const recorded = async () => {
    const acts = world.database.db.selectFrom("audit_events").select("details").where("action", "=", "transfer.reclaimed");
    return (await acts.orderBy("id").execute()).map(({ details }) => details);
  };

  test("needs the team until the second sum is recorded, once", async () => {
    const { person, invoiceId, amountCents } = await twice();
    expect(await waiting()).toMatchObject([
      { side: "claim", invoiceId, reference: person.email, amountCents, currency: "usd", userId: person.userId, dueAt: null },
    ]);
    const codeOf = async (others: object, clerk = admin) => (await reclaim(invoiceId, others, clerk)).json().code;
    expect(await codeOf({}, person)).toBe("not_found");
    expect(await codeOf({ amountCents: 1 })).toBe("conflict");
    expect(await codeOf({ currency: "eur" })).toBe("conflict");
    expect(await codeOf({ reason: "" })).toBe("validation_failed");
    expect((await reclaim("in_none")).json().code).toBe("not_found");
    const answers = await Promise.all(Array.from({ length: 5 }, () => reclaim(invoiceId)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 204, 204, 204, 204]);
    expect(await codeOf({ reference: "another" })).toBe("conflict");
    expect([await waiting(), await recorded()]).toEqual([[], [{ amountCents }]]);
    const other = await twice();
    expect((await reclaim(other.invoiceId, { reference: `again ${invoiceId}` })).json().code).toBe("idempotency_conflict");
    expect((await reclaim(other.invoiceId, { reference: undefined })).statusCode).toBe(204);
    expect([await waiting(), await recorded()]).toEqual([[], [{ amountCents }, { amountCents, givenUp: true }]]);
  });

  test("is none where nothing had gone back, or nobody took it back", async () => {
    const { person, invoiceId } = await payer();
    await withdraw(person, invoiceId);
    await world.post("/api/admin/transfers/reverse", admin, { reference: person.email, reason: "The bank took it back" });
    const other = await payer();
    await withdraw(other.person, other.invoiceId);
    await giveBack(other.invoiceId, other.amountCents);
    await settle();
    expect(await waiting()).toEqual([]);
    for (const { invoiceId: id } of [{ invoiceId }, other]) expect((await reclaim(id)).json().code).toBe("not_found");
  });
});

test.each(["void", "paid"] as const)(
  "a recorded transfer whose invoice was %s at Stripe by then goes back whole: the team is told at once, until it is recorded",
  async (status) => {
    const { person, invoiceId, amountCents } = await order();
    const received = { reference: person.email, invoiceId, amountCents, currency: "usd", reason: "Bank statement" };
    expect((await world.post("/api/admin/transfers", admin, received)).statusCode).toBe(204);
    // Before the job has run somebody voids it, or the person pays it by card.
    if (status === "void") await world.deps.payments.invoices.voidInvoice(invoiceId);
    else await world.deps.payments.invoices.pay(invoiceId, { payment_method: await cardOf(invoiceId) });
    await settle(3);
    const balance = status === "void" ? 0 : monthlyCredits;
    expect([(await invoicesOf(person))[0]?.state, (await walletOf(world, person)).balance]).toEqual([status, balance]);
    expect(await openReturns()).toMatchObject([{ invoiceId, reference: person.email, amountCents }]);
    expect(await findingsOf(person)).toEqual([{ kind: "surplus_transfer", resolved_by: null }]);
    expect((await giveBack(invoiceId, amountCents)).statusCode).toBe(204);
    await settle(2);
    expect(await openReturns()).toEqual([]);
    expect(await findingsOf(person)).toEqual([{ kind: "surplus_transfer", resolved_by: "itself" }]);
    expect(await mailsTo(world, person, "payment-refunded")).toMatchObject([
      { amountCents, credits: 0, left: balance, variant: "transfer" },
    ]);
    // It was another payment than the one that the plan was paid by.
    expect(await invoicesOf(person)).toMatchObject([{ state: status, refundedCents: 0, creditNotes: [] }]);
    if (status === "paid")
      expect(await contractsOf(person)).toMatchObject([{ id: invoiceId, state: "open", amountCents, byTransfer: false }]);
    expect((await withdraw(person, invoiceId)).statusCode).toBe(status === "paid" ? 202 : 404);
    await settle();
  },
);

test("the bank takes a transfer back that its invoice did not need: nothing is to be returned, and the plan that a card paid goes on", async () => {
  const { person, invoiceId, amountCents } = await order();
  const received = { reference: person.email, invoiceId, amountCents, currency: "usd", reason: "Bank statement" };
  await world.post("/api/admin/transfers", admin, received);
  await world.deps.payments.invoices.pay(invoiceId, { payment_method: await cardOf(invoiceId) });
  await settle();
  await world.post("/api/admin/transfers/reverse", admin, { reference: person.email, reason: "The bank took it back" });
  await settle(2);
  expect(await openReturns()).toEqual([]);
  expect(await findingsOf(person)).toEqual([{ kind: "surplus_transfer", resolved_by: "itself" }]);
  expect([await statusOf(person), (await walletOf(world, person)).balance]).toEqual(["active", monthlyCredits]);
  expect(await invoicesOf(person)).toMatchObject([{ state: "paid", refundedCents: 0 }]);
});

test("a transfer for an invoice that Stripe has voided is refused, though no event has said so yet", async () => {
  const { person, invoiceId, amountCents } = await order();
  await world.deps.payments.invoices.voidInvoice(invoiceId);
  const received = { reference: person.email, invoiceId, amountCents, currency: "usd", reason: "Bank statement" };
  const refused = await world.post("/api/admin/transfers", admin, received);
  expect([refused.statusCode, refused.json().detail]).toEqual([409, expect.stringContaining("void")]);
  expect(await invoicesOf(person)).toMatchObject([{ state: "void" }]);
  await world.settle();
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
