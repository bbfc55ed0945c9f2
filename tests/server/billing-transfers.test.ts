/** Enterprise plans that are paid by bank transfer: no credits before the money is there, each transfer recorded once, and taken back with its credits. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SubscriptionCheck } from "#contract/billing.ts";
import type { InvoicePage } from "#contract/invoices.ts";
import type { TransferInvoice } from "#contract/transfers.ts";
import { dayMs } from "#domain/clock.ts";
import { stepUpMs } from "#domain/periods.ts";
import { plans } from "#domain/plans.ts";
import { endGracePeriods } from "#server/features/billing/schedules.ts";
import { settleTransfer } from "#server/features/billing/transfers.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { mailsTo, spend, walletOf } from "../support/returns.ts";

const { monthlyCredits, monthlyPriceCents } = plans.enterprise;

let world: BillingWorld;
let admin: Person;
let person: Person;
beforeEach(async () => {
  world = await startBillingWorld({}, new Date("2026-01-10T12:00:00Z"));
  [admin, person] = [await world.person(), await world.person()];
  await world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
});
afterEach(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.close();
});

const invoice = (clerk = admin, asked: object = {}) =>
  world.post("/api/admin/transfers/invoice", clerk, { email: person.email, interval: "month", daysUntilDue: 14, ...asked });
const begin = async (asked: object = {}) => (await invoice(admin, asked)).json<TransferInvoice>();
const transfer = (invoiceId: string, others: object = {}, clerk = admin) =>
  world.post("/api/admin/transfers", clerk, {
    ...{ reference: "FT26011 / 4711", invoiceId, amountCents: monthlyPriceCents, currency: "usd", reason: "Statement of 12 January" },
    ...others,
  });
const reverse = (clerk = admin, reference = "FT26011 / 4711") =>
  world.post("/api/admin/transfers/reverse", clerk, { reference, reason: "The bank took it back" });

/** Does the jobs as the worker does, each twice, and brings Stripe's events. */
async function settle(): Promise<void> {
  const { db } = world.database;
  const rows = await db.selectFrom("outbox").select(["id", "payload"]).where("job", "=", "settle-transfer").orderBy("id").execute();
  for (const { payload } of [...rows, ...rows]) await settleTransfer(world.deps, (payload as { reference: string }).reference);
  await db.deleteFrom("outbox").where("job", "=", "settle-transfer").execute();
  await world.settle();
}
const check = async () => (await world.post("/api/functions/reliable-subscription-check", person)).json<SubscriptionCheck>();
const invoices = async () =>
  (await world.app.inject({ url: "/api/billing/invoices", headers: person.headers })).json<InvoicePage>().invoices;
const acts = async () => {
  const rows = await world.database.db.selectFrom("audit_events").select("action").orderBy("id").execute();
  return rows.map(({ action }) => action).filter((action) => action.startsWith("transfer."));
};

test("the plan and its credits begin when the transfer is recorded, and the list names it", async () => {
  const begun = await begin();
  expect(begun).toMatchObject({ amountCents: monthlyPriceCents, dueAt: "2026-01-24T12:00:00.000Z", number: expect.any(String) });
  await world.settle();
  expect(await check()).toMatchObject({
    ...{ subscribed: false, status: "incomplete", credits: 0 },
    unpaid: { invoiceId: begun.invoiceId, amountCents: monthlyPriceCents, dueAt: begun.dueAt, until: null },
  });
  expect(await mailsTo(world, person, "transfer-invoice", "subscription-started")).toEqual([
    {
      template: "transfer-invoice",
      plan: "enterprise",
      number: begun.number,
      amountCents: monthlyPriceCents,
      dueAt: begun.dueAt,
      invoiceId: begun.invoiceId,
    },
  ]);
  expect((await transfer(begun.invoiceId)).statusCode).toBe(204);
  await settle();
  expect(await check()).toMatchObject({ subscribed: true, subscription_tier: "enterprise", status: "active", credits: monthlyCredits });
  expect(await invoices()).toMatchObject([{ state: "paid", totalCents: monthlyPriceCents, transferReference: "FT26011 / 4711" }]);
  expect(await mailsTo(world, person, "subscription-started")).toHaveLength(1);
  expect(await acts()).toEqual(["transfer.invoiced", "transfer.received"]);
});

test("a second click finds the same subscription, and five recordings at once are one payment", async () => {
  const [first, second] = [await begin(), await begin()];
  expect(second).toEqual(first);
  expect((await invoice(admin, { interval: "year" })).json().code).toBe("already_subscribed");
  const answers = await Promise.all(Array.from({ length: 5 }, () => transfer(first.invoiceId)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 204, 204, 204, 204]);
  await settle();
  expect((await transfer(first.invoiceId)).statusCode).toBe(204);
  await settle();
  expect((await walletOf(world, person)).balance).toBe(monthlyCredits);
  expect(await acts()).toEqual(["transfer.invoiced", "transfer.invoiced", "transfer.received"]);
});

describe("refused, and nothing is written", () => {
  test("for whoever is not of the team, or showed no factor for a while", async () => {
    const { invoiceId } = await begin();
    for (const response of [await invoice(person), await transfer(invoiceId, {}, person), await reverse(person)])
      expect([response.statusCode, response.json().code]).toEqual([404, "not_found"]);
    await world.database.db
      .updateTable("auth_sessions")
      .set({ proved_at: new Date(Date.now() - stepUpMs - 1_000) })
      .execute();
    for (const response of [await invoice(), await transfer(invoiceId), await reverse()])
      expect([response.statusCode, response.json().code]).toEqual([403, "step_up_required"]);
    expect(await acts()).toEqual(["transfer.invoiced"]);
  });

  test("another amount, currency or invoice, a reference of another transfer, and an invoice that is not open", async () => {
    const { invoiceId } = await begin();
    const codeOf = async (others: object, id = invoiceId) => (await transfer(id, others)).json().code;
    expect(await codeOf({ amountCents: monthlyPriceCents - 1 })).toBe("conflict");
    expect(await codeOf({ currency: "eur" })).toBe("conflict");
    expect(await codeOf({}, "in_none")).toBe("not_found");
    expect(await codeOf({ reason: "" })).toBe("validation_failed");
    await transfer(invoiceId);
    expect(await codeOf({ amountCents: 1 })).toBe("idempotency_conflict");
    await settle();
    expect(await codeOf({ reference: "another" })).toBe("conflict");
    expect((await invoice(admin, { email: "nobody@example.com" })).json().code).toBe("not_found");
    expect((await invoice()).json().code).toBe("already_subscribed");
  });
});

test("a reference that is recorded for another invoice at the same moment is refused", async () => {
  const [first, second] = [await begin(), await begin({ email: (await world.person()).email })];
  const { pool } = world.database;
  const other = await pool.connect();
  try {
    await other.query("begin");
    await other.query(
      `insert into bank_transfers (reference, billing_account_id, stripe_subscription_id, invoice_id, amount_cents, currency, reason, recorded_at)
         select 'FT26011 / 4711', billing_account_id, stripe_subscription_id, id, $2, 'usd', 'Statement', now() from invoices where id = $1`,
      [first.invoiceId, monthlyPriceCents],
    );
    const answer = transfer(second.invoiceId);
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
    await other.query("commit");
    expect([(await answer).statusCode, (await answer).json().code]).toEqual([409, "idempotency_conflict"]);
  } finally {
    other.release();
  }
  expect(await acts()).toEqual(["transfer.invoiced", "transfer.invoiced"]);
});

test("a transfer that is taken back takes its credits, also those that were spent, and ends the plan", async () => {
  const { invoiceId } = await begin();
  await transfer(invoiceId);
  await settle();
  await spend(world, person, 50);
  expect([(await reverse()).statusCode, (await reverse()).statusCode]).toEqual([204, 204]);
  expect((await walletOf(world, person)).balance).toBe(-50);
  await settle();
  expect((await walletOf(world, person)).balance).toBe(-50);
  expect(await check()).toMatchObject({ subscribed: false, status: "canceled" });
  expect(await invoices()).toMatchObject([{ state: "refunded", transferReference: "FT26011 / 4711" }]);
  expect((await reverse(admin, "unknown")).json().code).toBe("not_found");
});

test("a transfer that is taken back before the job has run brings no credits", async () => {
  const { invoiceId } = await begin();
  await transfer(invoiceId);
  await reverse();
  await settle();
  expect([(await walletOf(world, person)).balance, (await check()).status]).toEqual([0, "canceled"]);
});

describe("an invoice that is not paid in time", () => {
  test("the first one: the plan never begins, and nothing is owed any more", async () => {
    await begin();
    await world.moveTo(new Date("2026-01-24T11:59:00Z"));
    expect((await check()).status).toBe("incomplete");
    await world.moveTo(new Date("2026-01-24T12:01:00Z"));
    await world.settle();
    expect(await check()).toMatchObject({ subscribed: false, status: "canceled" });
    expect(await invoices()).toMatchObject([{ state: "void" }]);
  });

  test("a renewal: no new credits until it is paid, access for seven days after the due date, then the end", async () => {
    const { invoiceId } = await begin();
    await transfer(invoiceId);
    await settle();
    const renewal = new Date("2026-02-10T13:00:00Z");
    await world.moveTo(new Date(renewal.getTime() + dayMs));
    const [open] = await invoices();
    expect(open).toMatchObject({ state: "open", totalCents: monthlyPriceCents });
    expect(await mailsTo(world, person, "transfer-invoice")).toHaveLength(2);
    expect(await check()).toMatchObject({ status: "active", credits: 0 });
    await world.moveTo(new Date("2026-02-25T12:00:00Z"));
    expect(await check()).toMatchObject({ status: "past_due", unpaid: { until: "2026-03-03T12:00:00.000Z" } });
    await transfer(open?.id ?? "", { reference: "second" });
    await settle();
    expect(await check()).toMatchObject({ status: "active", credits: monthlyCredits });
    await world.moveTo(new Date("2026-04-03T12:00:00Z"));
    await endGracePeriods(world.deps, world.clock.now());
    await world.settle();
    expect((await check()).status).toBe("canceled");
  });
});
