/** Enterprise plans that are paid by bank transfer: no credits before the money is there, each transfer recorded once, and taken back with its credits. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PersonPage } from "#contract/admin/people.ts";
import type { InvoicePage } from "#contract/billing/invoices.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { TransferInvoice, TransferOffer } from "#contract/billing/transfers.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { orderTexts } from "#domain/orders.ts";
import { stepUpMs } from "#domain/periods.ts";
import { graceDays, plans } from "#domain/plans.ts";
import { failureKind } from "#server/failures.ts";
import { endGracePeriods } from "#server/features/billing/schedules.ts";
import { stripePriceOf } from "#server/features/billing/stripe-catalogue.ts";
import { settleTransfer } from "#server/features/billing/transfers.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { payerIdOf } from "../support/payers.ts";
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

const offer = (clerk = admin, asked: object = {}) =>
  world.post("/api/admin/transfers/offer", clerk, {
    email: person.email,
    interval: "month",
    daysUntilDue: 14,
    reason: "They asked for it",
    ...asked,
  });
const order = (buyer = person, consent: object = {}) =>
  world.post("/api/billing/transfer-offer/order", buyer, { consent: { ...consentTo("enterprise_month"), ...consent } });
async function begin(buyer = person): Promise<TransferInvoice> {
  await offer(admin, { email: buyer.email });
  return (await order(buyer)).json<TransferInvoice>();
}
async function offered({ headers } = person): Promise<TransferOffer | null> {
  return (await world.app.inject({ url: "/api/billing/transfer-offer", headers })).json().offer;
}
async function ordersOf({ userId }: Person) {
  const payerId = await payerIdOf(world.database.db, userId);
  return world.database.db.selectFrom("orders").selectAll().where("billing_account_id", "=", payerId).orderBy("id").execute();
}
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
/** Sessions of this database that wait for another's lock. */
const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
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
      accessUntil: new Date(Date.parse(begun.dueAt) + graceDays * dayMs).toISOString(),
      invoiceId: begun.invoiceId,
      variant: "first",
      consentedAt: "2026-01-10T12:00:00.000Z",
      termsVersion: orderTexts.terms,
    },
  ]);
  expect((await transfer(begun.invoiceId)).statusCode).toBe(204);
  await settle();
  expect(await check()).toMatchObject({ subscribed: true, subscription_tier: "enterprise", status: "active", credits: monthlyCredits });
  expect(await invoices()).toMatchObject([{ state: "paid", totalCents: monthlyPriceCents, transferReference: "FT26011 / 4711" }]);
  expect(await mailsTo(world, person, "subscription-started")).toHaveLength(1);
  expect(await acts()).toEqual(["transfer.offered", "transfer.ordered", "transfer.received"]);
});

test("a transfer counts whatever letters the bank's reference has, and however many", async () => {
  const { invoiceId } = await begin();
  const reference = `Überweisung Łódź – 入金 ${"я".repeat(100)}`;
  expect((await transfer(invoiceId, { reference })).statusCode).toBe(204);
  await settle();
  expect(await check()).toMatchObject({ subscribed: true, status: "active", credits: monthlyCredits });
});

test("a person's page says what a transfer is awaited for; once it is recorded, with its reason on the log, another reference for the invoice is refused", async () => {
  const begun = await begin();
  await world.settle();
  const page = async (reader = admin) =>
    (await world.app.inject({ url: `/api/admin/people/${person.userId}`, headers: reader.headers })).json<PersonPage>();
  const { invoiceId, number, dueAt } = begun;
  const awaited = { invoiceId, number, dueAt, amountCents: monthlyPriceCents, plan: "enterprise", interval: "month", isAgreedOn: true };
  expect((await page()).money?.transfers).toEqual([awaited]);
  expect((await transfer(invoiceId)).statusCode).toBe(204);
  // The job has not told Stripe yet, so the invoice is still open.
  expect((await page()).money?.transfers).toEqual([]);
  expect((await transfer(invoiceId, { reference: "FT26012 / 4712" })).json().code).toBe("conflict");
  await settle();
  expect(await invoices()).toMatchObject([{ state: "paid", transferReference: "FT26011 / 4711" }]);
  const { rows } = (await world.app.inject({ url: "/api/admin/audit?action=transfer.received", headers: admin.headers })).json();
  expect(rows).toMatchObject([{ reason: "Statement of 12 January", actorId: admin.userId, details: { amountCents: monthlyPriceCents } }]);
});

test("a second click finds the same subscription, and five recordings at once are one payment", async () => {
  const first = await begin();
  const clicks = await Promise.all([order(), order(), order()]);
  expect(clicks.map((answer) => answer.json())).toEqual([first, first, first]);
  expect(await ordersOf(person)).toHaveLength(1);
  expect((await offer(admin, { interval: "year" })).json().code).toBe("already_subscribed");
  const answers = await Promise.all(Array.from({ length: 5 }, () => transfer(first.invoiceId)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 204, 204, 204, 204]);
  await settle();
  expect((await transfer(first.invoiceId)).statusCode).toBe(204);
  await settle();
  expect((await walletOf(world, person)).balance).toBe(monthlyCredits);
  expect(await acts()).toEqual(["transfer.offered", "transfer.ordered", "transfer.received"]);
});

describe("the order", () => {
  test("is offered, shown as it will be billed, and placed with a consent that is kept; the mails confirm it", async () => {
    expect(await offered()).toBeNull();
    expect((await offer(admin, { interval: "year", daysUntilDue: 30 })).json()).toEqual({ expiresAt: "2026-02-09T12:00:00.000Z" });
    expect(await mailsTo(world, person, "transfer-offer")).toMatchObject([{ plan: "enterprise", interval: "year" }]);
    expect(await offered()).toMatchObject({
      order: { subject: { plan: "enterprise", interval: "year" }, amountCents: 95_990, laterCents: 95_990, ...orderTexts },
      ...{ daysUntilDue: 30, expiresAt: "2026-02-09T12:00:00.000Z" },
    });
    const consent = consentTo("enterprise_year");
    expect((await order(person, { ...consent, beginAtOnce: false })).json().code).toBe("consent_required");
    expect((await order(person, { ...consent, amountCents: 1 })).json().code).toBe("preview_outdated");
    expect((await order(person, { ...consent, terms: "2024-01-31" })).json().code).toBe("preview_outdated");
    expect(await ordersOf(person)).toEqual([]);
    const placed = (await order(person, { ...consent, language: "de-AT" })).json<TransferInvoice>();
    expect(placed).toMatchObject({ amountCents: 95_990, dueAt: "2026-02-09T12:00:00.000Z" });
    const [kept] = await ordersOf(person);
    expect(kept).toMatchObject({ price_id: "enterprise_year", amount_cents: 95_990, language: "de", contract_id: null, ...orderTexts });
    expect(await offered()).toBeNull();
    await world.settle();
    await transfer(placed.invoiceId, { amountCents: 95_990 });
    await settle();
    expect(kept?.stripe_subscription_id).toMatch(/^sub_/);
    expect((await ordersOf(person))[0]).toMatchObject({ contract_id: kept?.stripe_subscription_id, concluded_at: world.clock.now() });
    expect(await mailsTo(world, person, "subscription-started")).toMatchObject([
      { consentedAt: kept?.consented_at.toISOString(), termsVersion: orderTexts.terms, amountCents: 95_990 },
    ]);
    expect((await offer()).json().code).toBe("already_subscribed");
  });

  test("of an offer that is over, of somebody else's, or of none, is refused", async () => {
    await offer();
    expect((await order(admin)).json().code).toBe("not_found");
    world.clock.moveTo(new Date("2026-02-10T12:00:00Z"));
    expect((await order()).json().code).toBe("not_found");
    expect(await offered()).toBeNull();
  });

  test("of an offer that the team replaces at that moment is refused, and what was not agreed to is not begun", async () => {
    await offer();
    const other = await world.database.pool.connect();
    try {
      await other.query("begin");
      await other.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`transfer-offer:${person.userId}`]);
      const placing = order();
      await expect.poll(async () => (await world.database.pool.query(waiting)).rowCount).toBe(1);
      await other.query("update transfer_offers set price_id = 'enterprise_year' where user_id = $1", [person.userId]);
      await other.query("commit");
      expect((await placing).json().code).toBe("preview_outdated");
    } finally {
      other.release();
    }
    expect((await world.deps.payments.subscriptions.list()).data).toEqual([]);
    expect(await ordersOf(person)).toEqual([]);
    expect((await order(person, consentTo("enterprise_year"))).json()).toMatchObject({ amountCents: 95_990 });
  });

  test("that another process was stopped in goes on with the same subscription", async () => {
    await offer();
    world.setApiFaults([{ method: "POST", path: "/v1/invoices", kind: "rate_limited" }]);
    expect((await order()).json().code).toBe("payment_provider_unavailable");
    const placed = (await order()).json<TransferInvoice>();
    expect(placed).toMatchObject({ amountCents: monthlyPriceCents });
    expect((await world.deps.payments.subscriptions.list()).data).toHaveLength(1);
    expect(await ordersOf(person)).toHaveLength(1);
  });

  test("is not passed over: a transfer for a plan that nobody ordered here is recorded only with how it was agreed on", async () => {
    await offer();
    const { payments } = world.deps;
    const [customer] = (await payments.customers.list()).data;
    // The previous release, or somebody in Stripe's dashboard, made it like this.
    const subscription = await payments.subscriptions.create({
      ...{ customer: customer?.id ?? "", collection_method: "send_invoice", days_until_due: 14 },
      items: [{ price: await stripePriceOf(world.deps, "enterprise_month"), quantity: 1 }],
    });
    const invoiceId = String(subscription.latest_invoice);
    await payments.invoices.finalizeInvoice(invoiceId);
    await world.settle();
    expect((await transfer(invoiceId)).json()).toMatchObject({ code: "conflict", detail: expect.stringContaining("agreedElsewhere") });
    expect((await transfer(invoiceId, { agreedElsewhere: "Signed contract of 3 January" })).statusCode).toBe(204);
    const [recorded] = await world.database.db.selectFrom("bank_transfers").select("agreed_elsewhere").execute();
    expect(recorded).toEqual({ agreed_elsewhere: "Signed contract of 3 January" });
    const [act] = await world.database.db.selectFrom("audit_events").select("details").where("action", "=", "transfer.received").execute();
    expect(act?.details).toEqual({ amountCents: monthlyPriceCents, agreedElsewhere: true });
  });
});

test("an order whose invoice was to be debited, and is void because that failed, is over: no later period begins unpaid", async () => {
  const { invoiceId } = await begin();
  const { payments } = world.deps;
  const { hosted_invoice_url: page } = await payments.invoices.retrieve(invoiceId);
  const paid = await fetch(`${page}/pay`, { method: "POST", body: new URLSearchParams({ card: "bank_debit_voids" }) });
  expect(paid.ok).toBe(true);
  await world.moveTo(addMilliseconds(world.clock.now(), 6 * dayMs));
  await settle();
  expect((await payments.invoices.retrieve(invoiceId)).status).toBe("void");
  const [bought] = (await payments.subscriptions.list({ status: "all" })).data;
  expect([await check(), bought?.status]).toMatchObject([{ subscribed: false, status: "canceled" }, "canceled"]);
  expect(await mailsTo(world, person, "plan-ended", "transfer-lapsed")).toMatchObject([{ variant: "unpaid" }]);
  await world.moveTo(addMilliseconds(world.clock.now(), 40 * dayMs));
  expect([await check(), (await walletOf(world, person)).grants]).toMatchObject([{ subscribed: false }, []]);
});

test.each([
  ["bank_debit", "paid", "surplus"],
  ["bank_debit_fails", "paid", undefined],
  ["bank_debit_voids", "void", "surplus"],
])(
  "a transfer recorded while the invoice is debited (%s) waits for the bank, and is then for the invoice or goes back",
  async (account, status, kind) => {
    const { invoiceId } = await begin();
    const { payments } = world.deps;
    const { hosted_invoice_url: page } = await payments.invoices.retrieve(invoiceId);
    await fetch(`${page}/pay`, { method: "POST", body: new URLSearchParams({ card: account }) });
    expect((await transfer(invoiceId)).statusCode).toBe(204);
    const waits = settleTransfer(world.deps, "FT26011 / 4711");
    await expect(waits).rejects.toThrow("is on its way");
    expect(failureKind(await waits.catch((error: unknown) => error))).toBe("outage");
    await world.moveTo(addMilliseconds(world.clock.now(), 6 * dayMs));
    await settle();
    expect((await payments.invoices.retrieve(invoiceId)).status).toBe(status);
    const returns = await world.database.db.selectFrom("money_backs").select("kind").execute();
    expect(returns).toEqual(kind === undefined ? [] : [{ kind }]);
    expect((await check()).subscribed).toBe(status === "paid");
    expect((await walletOf(world, person)).balance).toBe(status === "paid" ? monthlyCredits : 0);
  },
);

describe("refused, and nothing is written", () => {
  test("for whoever is not of the team, or showed no factor for a while", async () => {
    const { invoiceId } = await begin();
    for (const response of [await offer(person), await transfer(invoiceId, {}, person), await reverse(person)])
      expect([response.statusCode, response.json().code]).toEqual([404, "not_found"]);
    await world.database.db
      .updateTable("auth_sessions")
      .set({ proved_at: new Date(Date.now() - stepUpMs - 1_000) })
      .execute();
    for (const response of [await offer(), await transfer(invoiceId), await reverse()])
      expect([response.statusCode, response.json().code]).toEqual([403, "step_up_required"]);
    expect(await acts()).toEqual(["transfer.offered", "transfer.ordered"]);
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
    expect(await codeOf({ reference: "before the job" })).toBe("conflict");
    await settle();
    expect(await codeOf({ reference: "another" })).toBe("conflict");
    expect((await offer(admin, { email: "nobody@example.com" })).json().code).toBe("not_found");
    expect((await offer()).json().code).toBe("already_subscribed");
  });
});

test("a reference that is recorded for another invoice at the same moment is refused", async () => {
  const [first, second] = [await begin(), await begin(await world.person())];
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
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
    await other.query("commit");
    expect([(await answer).statusCode, (await answer).json().code]).toEqual([409, "idempotency_conflict"]);
  } finally {
    other.release();
  }
  expect(await acts()).toEqual(["transfer.offered", "transfer.ordered", "transfer.offered", "transfer.ordered"]);
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
    const { number, dueAt } = await begin();
    await world.moveTo(new Date("2026-01-24T11:59:00Z"));
    expect((await check()).status).toBe("incomplete");
    expect(await mailsTo(world, person, "transfer-lapsed")).toEqual([]);
    await world.moveTo(new Date("2026-01-24T12:01:00Z"));
    await world.settle();
    expect(await check()).toMatchObject({ subscribed: false, status: "canceled" });
    expect(await invoices()).toMatchObject([{ state: "void" }]);
    const lapsed = { template: "transfer-lapsed", plan: "enterprise", number, amountCents: monthlyPriceCents, dueAt };
    expect(await mailsTo(world, person, "transfer-lapsed", "transfer-overdue", "plan-ended")).toEqual([lapsed]);
  });

  test("the first one, also if Stripe fails between the end of the plan and that of its invoice", async () => {
    const { invoiceId } = await begin();
    await world.moveTo(new Date("2026-01-24T12:01:00Z"), { bringing: false });
    world.setApiFaults([{ kind: "server_error", method: "POST", path: `/v1/invoices/${invoiceId}/void`, count: 3 }]);
    const events = await world.takeEvents();
    await expect(world.bring(events)).rejects.toThrow("told to fail");
    expect((await world.deps.payments.invoices.retrieve(invoiceId)).status).toBe("open");
    // Nobody pays for a plan that is over.
    const late = await transfer(invoiceId);
    expect([late.statusCode, late.json().detail]).toEqual([409, expect.stringContaining("ended")]);
    await world.bring(events);
    await world.settle();
    expect(await check()).toMatchObject({ subscribed: false, status: "canceled" });
    expect(await invoices()).toMatchObject([{ state: "void" }]);
  });

  test("a renewal: no new credits until it is paid, access for seven days after the due date, then the end", async () => {
    const { invoiceId } = await begin();
    await transfer(invoiceId);
    await settle();
    expect((await check()).next_credits_at).toBe("2026-02-10T12:00:00.000Z");
    const renewal = new Date("2026-02-10T13:00:00Z");
    await world.moveTo(new Date(renewal.getTime() + 60_000));
    expect((await check()).next_credits_at).toBeNull();
    await world.moveTo(new Date(renewal.getTime() + dayMs));
    const [open] = await invoices();
    expect(open).toMatchObject({ state: "open", totalCents: monthlyPriceCents });
    const end = "2026-03-03T12:00:00.000Z";
    expect(await mailsTo(world, person, "transfer-invoice")).toMatchObject([
      { variant: "first" },
      { variant: "renewal", accessUntil: expect.stringContaining("2026-03-03T1") },
    ]);
    expect(await mailsTo(world, person, "transfer-overdue")).toEqual([]);
    // Nobody knows when the transfer arrives.
    expect(await check()).toMatchObject({ status: "active", credits: 0, next_credits_at: null, unpaid: { invoiceId: open?.id } });
    await world.moveTo(new Date("2026-02-25T12:00:00Z"));
    expect(await check()).toMatchObject({ status: "past_due", unpaid: { until: end } });
    const overdue = { template: "transfer-overdue", plan: "enterprise", number: open?.number, amountCents: monthlyPriceCents };
    expect(await mailsTo(world, person, "transfer-overdue", "payment-failed")).toEqual([
      { ...overdue, graceUntil: end, invoiceId: open?.id },
    ]);
    await transfer(open?.id ?? "", { reference: "second" });
    await settle();
    expect(await check()).toMatchObject({ status: "active", credits: monthlyCredits });
    await world.moveTo(new Date("2026-04-03T12:00:00Z"));
    await endGracePeriods(world.deps, world.clock.now());
    await world.settle();
    expect((await check()).status).toBe("canceled");
  });

  test("a renewal whose transfer was recorded just before the end of its grace goes on, though the job of the record has not run", async () => {
    const { invoiceId } = await begin();
    await transfer(invoiceId);
    await settle();
    await world.moveTo(new Date("2026-03-03T11:00:00Z"));
    const [open] = await invoices();
    expect((await check()).status).toBe("past_due");
    await transfer(open?.id ?? "", { reference: "second" });
    world.clock.moveTo(new Date("2026-03-03T13:00:00Z"));
    await endGracePeriods(world.deps, world.clock.now());
    await world.settle();
    expect(await check()).toMatchObject({ status: "active", credits: monthlyCredits });
  });
});
