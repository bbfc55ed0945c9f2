/** The list of a person's invoices is ours; it follows Stripe's events, and links are asked of Stripe when somebody follows them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { readEarlierInvoices } from "#server/features/billing/earlier-invoices.ts";
import { mirrorInvoice } from "#server/features/billing/mirror-invoice.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { createPayments } from "#server/providers/stripe.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { startHttpProxy } from "../support/http-proxy.ts";
import { customerOf, payerIdOf } from "../support/payers.ts";

let world: BillingWorld;
const start = new Date("2026-03-10T09:30:00Z");
/** After everybody's renewal is charged. */
const renewal = new Date("2026-04-10T12:00:00Z");

beforeAll(async () => {
  world = await startBillingWorld({}, start);
});
afterEach(() => world.endPlans());
afterAll(() => world.close());

const get = (person: Person, query = "") =>
  world.app.inject({ method: "GET", url: `/api/billing/invoices${query}`, headers: person.headers });
const listOf = async (person: Person) => (await get(person)).json().invoices;
const linkTo = (person: Person, id: string, document: string) => world.post(`/api/billing/invoices/${id}/link`, person, { document });
const linkToNote = (person: Person, id: string, creditNote: string) =>
  world.post(`/api/billing/invoices/${id}/link`, person, { creditNote });

async function subscriber(priceId = "starter_month"): Promise<Person> {
  const person = await world.person();
  await world.buy(person, priceId);
  await world.settle();
  return person;
}

describe("a person's invoices", () => {
  test("are those of their plan and their packs, newest first, each with what it is for", async () => {
    const person = await subscriber();
    world.clock.moveTo(new Date("2026-03-10T09:40:00Z"));
    const { url } = (await world.post("/api/billing/packs/checkout", person, { pack: "pack_250", consent: consentTo("pack_250") })).json();
    await world.pay(url);
    await world.settle();
    const [pack, plan, ...others] = await listOf(person);
    expect(others).toEqual([]);
    expect(pack).toMatchObject({ subject: { kind: "pack", credits: 250 }, totalCents: 1799, refundedCents: 0, state: "paid" });
    expect(plan).toMatchObject({
      subject: { kind: "plan", plan: "starter", interval: "month", from: start.toISOString(), until: "2026-04-10T09:30:00.000Z" },
      ...{ issuedAt: start.toISOString(), totalCents: 1999, state: "paid" },
    });
    expect(plan.number).toMatch(/-0001$/);
  });

  test("of customers who were here before are read by the hourly check, of a bounded number in each run", async () => {
    await world.database.asOwner(
      "insert into billing_accounts (stripe_customer_id, created_at) select 'cus_before_' || n, now() from generate_series(1, 1100) n",
    );
    const left = async () => {
      const { rows } = await world.database.pool.query<{ count: number }>(
        "select count(*)::int as count from billing_accounts where stripe_customer_id like 'cus_before_%' and invoices_read_at is null",
      );
      return rows[0]?.count;
    };
    await reconcileBilling(world.deps);
    expect(await left()).toBeGreaterThanOrEqual(100);
    await reconcileBilling(world.deps);
    expect(await left()).toBe(0);
    await world.database.asOwner("delete from billing_accounts where stripe_customer_id like 'cus_before_%'");
  });

  test("come a page at a time, and every page costs the same", async () => {
    const person = await subscriber();
    const payerId = await payerIdOf(world.database.db, person.userId);
    const invoices = world.database.db.selectFrom("invoices").selectAll();
    const own = await invoices.where("billing_account_id", "=", payerId).executeTakeFirstOrThrow();
    const more = Array.from({ length: 30 }, (_, index) => ({
      ...own,
      credit_notes: "[]",
      id: `in_more${String(index).padStart(2, "0")}`,
      // Two are issued in the same second.
      issued_at: new Date(start.getTime() - Math.floor(index / 2) * 86_400_000),
    }));
    await world.database.db.insertInto("invoices").values(more).execute();
    const seen: string[] = [];
    let query = "?limit=7";
    for (let page = 0; page < 10; page += 1) {
      const { invoices: shown, nextCursor } = (await get(person, query)).json();
      expect(shown.length).toBeLessThanOrEqual(7);
      seen.push(...shown.map(({ id }: { id: string }) => id));
      if (nextCursor === null) break;
      query = `?limit=7&cursor=${nextCursor}`;
    }
    expect(seen).toHaveLength(31);
    expect(new Set(seen).size).toBe(31);
    expect((await get(person, "?cursor=bm90aGluZw")).json().code).toBe("validation_failed");
  });

  test("can be read while Stripe does not answer; only a link can't be had then, and says so", async () => {
    const person = await subscriber();
    world.setApiFaults([{ kind: "server_error", path: "/v1/invoices", count: 20 }]);
    const [invoice] = await listOf(person);
    expect(invoice.state).toBe("paid");
    expect((await linkTo(person, invoice.id, "pdf")).json()).toMatchObject({ status: 502, code: "payment_provider_unavailable" });
    world.setApiFaults([]);
    expect((await linkTo(person, invoice.id, "pdf")).statusCode).toBe(200);
  });

  test("lead to a PDF and a receipt, and another person's lead nowhere", async () => {
    const person = await subscriber();
    const stranger = await world.person();
    const [{ id, number }] = await listOf(person);
    expect(await listOf(stranger)).toEqual([]);
    for (const document of ["pdf", "receipt", "pay"]) {
      expect((await linkTo(stranger, id, document)).json()).toEqual((await linkTo(stranger, "in_unknown", document)).json());
      expect((await linkTo(stranger, id, document)).statusCode).toBe(404);
    }
    const pdf = await fetch((await linkTo(person, id, "pdf")).json().url);
    expect(pdf.headers.get("content-type")).toBe("application/pdf");
    expect(pdf.headers.get("content-disposition")).toContain(`${number}.pdf`);
    expect(
      Buffer.from(await pdf.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).toBe("%PDF-");
    const receipt = await fetch((await linkTo(person, id, "receipt")).json().url);
    expect(await receipt.text()).toContain("$19.99");
  });
});

describe("the credit note of a refund", () => {
  async function refund(person: Person, cents: number) {
    const [{ id }] = await listOf(person);
    const { data } = await world.deps.payments.invoicePayments.list({ invoice: id, status: "paid" });
    await world.deps.payments.refunds.create({ payment_intent: String(data[0]?.payment.payment_intent), amount: cents });
  }

  test("is issued once, however often Stripe's events come, side by side and after an answer that was lost", async () => {
    const person = await subscriber();
    await refund(person, 300);
    const events = await world.takeEvents();
    world.setApiFaults([{ kind: "cut_after_work", method: "POST", path: "/v1/credit_notes", count: 1 }]);
    await Promise.all([world.bring(events).catch(() => {}), world.bring(events).catch(() => {})]);
    await world.bring(events);
    await world.settle();
    expect((await listOf(person))[0]).toMatchObject({ refundedCents: 300, creditNotes: [{ amountCents: 300 }] });
  });

  test("is left to an operator who issues it by hand, and is shown then; what Stripe refuses holds up nothing", async () => {
    const person = await subscriber();
    const [{ id: invoice }] = await listOf(person);
    await world.deps.payments.creditNotes.create({ invoice, amount: 1900, out_of_band_amount: 1900, email_type: "none" });
    await world.settle();
    expect((await listOf(person))[0].creditNotes).toMatchObject([{ amountCents: 1900 }]);
    await refund(person, 1999);
    await world.settle();
    expect((await listOf(person))[0]).toMatchObject({ state: "refunded", refundedCents: 1999, creditNotes: [{ amountCents: 1900 }] });
  });
});

describe("an invoice", () => {
  test("is failed, paid and refunded as Stripe has it, whatever was lost or came twice", async () => {
    const person = await subscriber();
    const customer = await customerOf(world.database.db, person.userId);
    const [subscription] = (await world.deps.payments.subscriptions.list({ customer })).data;
    const bad = await world.deps.payments.paymentMethods.attach("pm_card_chargeCustomerFail", { customer });
    await world.deps.payments.subscriptions.update(String(subscription?.id), { default_payment_method: bad.id });
    await world.moveTo(renewal);
    const [failed] = await listOf(person);
    expect(failed).toMatchObject({ state: "failed", totalCents: 1999 });
    const page = (await linkTo(person, failed.id, "pay")).json().url;
    const paid = await fetch(`${page}/pay`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ card: "success" }),
      redirect: "manual",
    });
    expect(paid.status).toBe(303);
    // The events of the payment are lost, until the hourly reconciliation finds them.
    world.clock.moveTo(new Date(world.clock.now().getTime() + 120_000));
    expect((await listOf(person))[0].state).toBe("failed");
    await reconcileBilling(world.deps);
    expect((await listOf(person))[0].state).toBe("paid");
    const payments = await world.deps.payments.invoicePayments.list({ invoice: failed.id, status: "paid" });
    const intent = String(payments.data[0]?.payment.payment_intent);
    await world.deps.payments.refunds.create({ payment_intent: intent, amount: 500 });
    await Promise.all(Array.from({ length: 5 }, () => mirrorInvoice(world.deps, failed.id).catch(() => undefined)));
    expect((await listOf(person))[0]).toMatchObject({ state: "paid", refundedCents: 500 });
    await world.deps.payments.refunds.create({ payment_intent: intent });
    await world.settle();
    const [refunded] = await listOf(person);
    expect(refunded).toMatchObject({ state: "refunded", refundedCents: 1999 });
    // Each refund has its credit note, which Stripe keeps with the invoice.
    expect(refunded.creditNotes).toEqual([
      { id: expect.any(String), number: `${refunded.number}-CN-01`, amountCents: 500 },
      { id: expect.any(String), number: `${refunded.number}-CN-02`, amountCents: 1499 },
    ]);
    const [note] = refunded.creditNotes;
    const pdf = await fetch((await linkToNote(person, refunded.id, note.id)).json().url);
    expect([pdf.headers.get("content-type"), (await pdf.text()).slice(0, 5)]).toEqual(["application/pdf", "%PDF-"]);
    const [earlier] = await listOf(await subscriber());
    for (const [asker, invoice, wanted] of [
      [await world.person(), refunded.id, note.id],
      [person, refunded.id, "cn_unknown"],
      [person, earlier.id, note.id],
    ] as const)
      expect((await linkToNote(asker, invoice, wanted)).statusCode).toBe(404);
  });

  test("from before the list existed is read when its person looks, or by the next reconciliation", async () => {
    const person = await subscriber();
    const { db } = world.database;
    const [before] = await listOf(person);
    await world.database.asOwner(`delete from invoices where id = '${before.id}'`);
    await world.database.asOwner("update billing_accounts set invoices_read_at = null");
    // Looking at the list asks for it, once; then it is there at once, and open pages are told.
    expect([(await get(person)).json(), (await get(person)).json()]).toEqual(
      Array(2).fill({ invoices: [], nextCursor: null, reading: true }),
    );
    const jobs = await db.selectFrom("outbox").select("payload").where("job", "=", "read-invoices").execute();
    expect(jobs).toEqual([{ payload: { userId: person.userId } }]);
    world.pushed.length = 0;
    await readEarlierInvoices(world.deps, person.userId);
    expect((await get(person)).json()).toEqual({ invoices: [before], nextCursor: null, reading: false });
    await expect.poll(() => world.pushed).toMatchObject([{ userId: person.userId, table: "user_subscriptions" }]);
    await world.database.asOwner(`delete from invoices where id = '${before.id}'`);
    await world.database.asOwner("update billing_accounts set invoices_read_at = null");
    await reconcileBilling(world.deps);
    expect(await listOf(person)).toEqual([before]);
    const unread = await db
      .selectFrom("billing_accounts")
      .select("id")
      .where("stripe_customer_id", "is not", null)
      .where("invoices_read_at", "is", null)
      .execute();
    expect(unread).toEqual([]);
  });

  test("of a bank debit that takes days is on its way meanwhile, and no mail says that it failed", async () => {
    const person = await subscriber();
    const customer = await customerOf(world.database.db, person.userId);
    const [subscription] = (await world.deps.payments.subscriptions.list({ customer })).data;
    const bad = await world.deps.payments.paymentMethods.attach("pm_card_chargeCustomerFail", { customer });
    await world.deps.payments.subscriptions.update(String(subscription?.id), { default_payment_method: bad.id });
    await world.moveTo(addMilliseconds(world.clock.now(), 32 * dayMs), { bringing: false });
    const [unpaid] = (await world.deps.payments.invoices.list({ customer, status: "open" })).data;
    const proxy = await startHttpProxy(world.sandboxUrl, (_request, answer) =>
      answer.replaceAll('"requires_payment_method"', '"processing"'),
    );
    const payments = createPayments({ ...world.deps.config.stripe, apiUrl: proxy.url });
    await mirrorInvoice({ ...world.deps, payments }, String(unpaid?.id));
    await proxy.close();
    expect((await listOf(person))[0]).toMatchObject({ id: unpaid?.id, state: "processing" });
    const mails = world.database.db.selectFrom("mails").select("template").where("user_id", "=", person.userId);
    expect((await mails.execute()).map(({ template }) => template)).toEqual(["subscription-started"]);
  });
});
