/** Tax by Stripe Tax where it is switched on: the prices stay, each invoice says how much of it is tax, and money goes back by the whole price. */
import type Stripe from "stripe";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { InvoicePage } from "#contract/billing/invoices.ts";
import type { TransferInvoice } from "#contract/billing/transfers.ts";
import { payBack } from "#server/features/billing/pay-back.ts";
import { compareAccount } from "#server/features/billing/stripe-account.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import type { BillingWorld } from "../support/billing-stripe.ts";
import { startBillingWorld } from "../support/billing-stripe.ts";
import type { Person } from "../support/billing-world.ts";
import { consentTo } from "../support/consent.ts";
import { payerIdOf } from "../support/payers.ts";
import { mailsTo } from "../support/returns.ts";

const start = new Date("2026-03-10T09:30:00Z");
let world: BillingWorld;
afterEach(async () => {
  expect(await findDisagreements(world.deps.db)).toEqual([]);
  await world.endPlans();
});
afterAll(() => world.close());

async function invoicesOf({ headers }: Person) {
  return (await world.app.inject({ url: "/api/billing/invoices", headers })).json<InvoicePage>().invoices;
}
const preview = async (person: Person, priceId: string) =>
  (await world.post("/api/billing/order/preview", person, { priceId })).json<{ tax: object | null }>();

async function subscriber(country: string): Promise<Person> {
  const person = await world.person();
  await world.pay((await world.checkout(person, "starter_month")).url, "success", country);
  await world.settle();
  return person;
}
async function customerOf({ userId }: Person): Promise<string> {
  const { db } = world.database;
  const id = await payerIdOf(db, userId);
  const account = await db.selectFrom("billing_accounts").select("stripe_customer_id").where("id", "=", id).executeTakeFirstOrThrow();
  return account.stripe_customer_id ?? "";
}

describe("switched on", () => {
  beforeAll(async () => {
    world = await startBillingWorld({ STRIPE_TAX: "included" }, start);
    const { payments } = world.deps;
    // The account of an operator who has filled in nothing yet: nobody pays a price whose tax can't be calculated.
    const person = await world.person();
    expect(await world.checkout(person, "starter_month")).toMatchObject({ status: 503, code: "tax_unavailable" });
    const missing = await compareAccount(payments, "https://t.example", "included");
    expect(missing.filter(({ repair }) => !repair).map(({ what }) => what)).toEqual([
      expect.stringContaining("business address"),
      expect.stringContaining("no active tax registration"),
    ]);
    await payments.tax.settings.update({ head_office: { address: { country: "DE" } } });
    await payments.tax.registrations.create({ country: "DE", active_from: "now", country_options: { de: { type: "oss_union" } } });
  });

  test("setting up makes prices that include tax, with a tax code, and lets people correct their address; a second time changes nothing", async () => {
    const { payments } = world.deps;
    for (const { repair } of await compareAccount(payments, "https://t.example", "included")) await repair?.();
    expect((await compareAccount(payments, "https://t.example", "included")).map(({ what }) => what)).toEqual([]);
    const prices = await payments.prices.list({ active: true, limit: 100, expand: ["data.product"] });
    for (const price of prices.data) expect(price).toMatchObject({ tax_behavior: "inclusive", product: { tax_code: "txcd_10103000" } });
    expect(await payments.billingPortal.configurations.list()).toMatchObject({
      data: [{ features: { customer_update: { enabled: true, allowed_updates: ["address", "tax_id"] } } }],
    });
  });

  test("the price stays, the order says that tax is in it, and the invoice and its mail how much; the next order knows the rate", async () => {
    const person = await world.person();
    expect(await preview(person, "starter_month")).toMatchObject({ amountCents: 1999, tax: { percent: null } });
    const { url } = await world.checkout(person, "starter_month");
    await world.pay(url, "success", "DE");
    await world.settle();
    expect(await invoicesOf(person)).toMatchObject([{ totalCents: 1999, tax: { cents: 319, percent: 19 }, addressMissing: false }]);
    const [mail] = await mailsTo(world, person, "subscription-started");
    expect(mail).toMatchObject({ amountCents: 1999, taxCents: 319 });
    expect(await preview(person, "pack_100")).toMatchObject({ amountCents: 799, tax: { percent: 19 } });
    const change = await world.post("/api/billing/plan-change/preview", person, { priceId: "basic_month" });
    expect(change.json()).toMatchObject({ amountCents: 3999, tax: { percent: 19 } });
  });

  test("a pack's invoice has it too, and a plan that changes stays taxed", async () => {
    const person = await subscriber("FR");
    const order = await world.post("/api/billing/packs/checkout", person, { pack: "pack_100", consent: consentTo("pack_100") });
    await world.pay(order.json<{ url: string }>().url);
    await world.settle();
    expect((await mailsTo(world, person, "pack-bought"))[0]).toMatchObject({ amountCents: 799, taxCents: 133 });
    const change = { priceId: "basic_month", amountCents: 3999, effectiveAt: "2026-04-10T09:30:00.000Z" };
    expect((await world.post("/api/billing/plan-change", person, change)).statusCode).toBe(200);
    await world.moveTo(new Date("2026-04-10T12:00:00Z"));
    expect((await invoicesOf(person)).map(({ totalCents, tax }) => `${totalCents} ${tax?.cents} ${tax?.percent}`).sort()).toEqual([
      "1999 333 20",
      "3999 667 20",
      "799 133 20",
    ]);
    expect((await mailsTo(world, person, "plan-renewed"))[0]).toMatchObject({ amountCents: 3999, taxCents: 667 });
  });

  test("where no tax is collected the invoice says zero, and no rate is named", async () => {
    const person = await subscriber("CH");
    expect(await invoicesOf(person)).toMatchObject([{ totalCents: 1999, tax: { cents: 0, percent: null } }]);
    expect(await preview(person, "pack_100")).toMatchObject({ tax: { percent: null } });
  });

  test("a business gives its number at the checkout: the price stays, and its invoice says that none of it is tax", async () => {
    const person = await world.person();
    const { url } = await world.checkout(person, "starter_month");
    await world.pay(url, "success", "FR", { tax_id: "FR40303265045", business_name: "Exemple SARL" });
    await world.settle();
    const [shown] = await invoicesOf(person);
    expect(shown).toMatchObject({ totalCents: 1999, tax: { cents: 0, percent: null } });
    const invoice = await world.deps.payments.invoices.retrieve(shown?.id ?? "");
    expect(invoice).toMatchObject({ customer_name: "Exemple SARL", customer_tax_ids: [{ type: "eu_vat", value: "FR40303265045" }] });
    expect((await mailsTo(world, person, "subscription-started"))[0]).toMatchObject({ taxCents: 0 });
  });

  test("withdrawing gives back the price with its tax", async () => {
    const person = await subscriber("DE");
    const { contracts } = (await world.app.inject({ url: "/api/billing/withdrawals", headers: person.headers })).json();
    expect(contracts).toMatchObject([{ amountCents: 1999 }]);
    const moneyBack = await world.post("/api/billing/money-back", person);
    expect(moneyBack.statusCode).toBe(202);
    const [request] = await world.database.db.selectFrom("money_backs").select("id").where("done_at", "is", null).execute();
    await payBack(world.deps, request?.id ?? "");
    await world.settle();
    expect(await invoicesOf(person)).toMatchObject([{ refundedCents: 1999, state: "refunded", tax: { cents: 319, percent: 19 } }]);
  });

  test("whose address is gone is told so with the invoice, and taxed again once it is corrected", async () => {
    const person = await subscriber("DE");
    const customer = await customerOf(person);
    await world.deps.payments.customers.update(customer, { address: "" });
    const renewal = new Date(world.clock.now().getTime() + 32 * 86_400_000);
    await world.moveTo(renewal);
    expect((await invoicesOf(person))[0]).toMatchObject({ totalCents: 1999, tax: null, addressMissing: true });
    await world.deps.payments.customers.update(customer, { address: { country: "US" } });
    await world.settle();
    await world.deps.payments.customers.update(customer, { address: { country: "FR" } });
    await world.settle();
    await world.moveTo(new Date(renewal.getTime() + 32 * 86_400_000));
    expect((await invoicesOf(person))[0]).toMatchObject({ tax: { cents: 333, percent: 20 }, addressMissing: false });
  });

  test("an invoice that is sent needs an address, which the team gives", async () => {
    const [admin, person] = [await world.person(), await world.person()];
    await world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
    const asked = { email: person.email, interval: "month", daysUntilDue: 14, reason: "They asked for it" };
    const refused = await world.post("/api/admin/transfers/offer", admin, asked);
    expect([refused.statusCode, refused.json().code]).toEqual([409, "conflict"]);
    const billTo = { name: "Example GmbH", line1: "Example Street 2", postalCode: "10115", city: "Berlin", country: "DE" };
    await world.post("/api/admin/transfers/offer", admin, { ...asked, billTo });
    const consent = consentTo("enterprise_month");
    // Without it the order says what is missing, and works as soon as it is there.
    const customer = await customerOf(person);
    const { address } = (await world.deps.payments.customers.retrieve(customer)) as Stripe.Customer;
    await world.deps.payments.customers.update(customer, { address: "" });
    const unplaced = await world.post("/api/billing/transfer-offer/order", person, { consent });
    expect([unplaced.statusCode, unplaced.json().code]).toEqual([409, "tax_address_needed"]);
    await world.deps.payments.customers.update(customer, { address: address as Stripe.AddressParam });
    const begun = (await world.post("/api/billing/transfer-offer/order", person, { consent })).json<TransferInvoice>();
    await world.settle();
    const { tax, totalCents } = (await invoicesOf(person)).find(({ id }) => id === begun.invoiceId) ?? {};
    expect([totalCents, tax]).toEqual([9999, { cents: 1596, percent: 19 }]);
  });

  test("an invoice that is sent has the tax id that the team gave last, and no tax where the business owes it", async () => {
    const [admin, person] = [await world.person(), await world.person()];
    await world.database.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
    const billTo = { name: "Exemple SARL", line1: "1 rue Exemple", postalCode: "75001", city: "Paris", country: "FR" };
    const offer = (value: string) =>
      world.post("/api/admin/transfers/offer", admin, {
        ...{ email: person.email, interval: "month", daysUntilDue: 14, reason: "They asked for it" },
        billTo: { ...billTo, taxId: { type: "eu_vat", value } },
      });
    expect((await offer("FR!")).json()).toMatchObject({ code: "conflict", detail: expect.stringContaining("does not accept this tax id") });
    for (const value of ["FR11303265045", "FR 40 303265045", "FR40303265045"]) expect((await offer(value)).statusCode).toBe(200);
    await world.post("/api/billing/transfer-offer/order", person, { consent: consentTo("enterprise_month") });
    await world.settle();
    const [shown] = await invoicesOf(person);
    const invoice = await world.deps.payments.invoices.retrieve(shown?.id ?? "");
    expect(invoice).toMatchObject({ customer_name: "Exemple SARL", customer_tax_ids: [{ type: "eu_vat", value: "FR40303265045" }] });
    expect([shown?.totalCents, shown?.tax?.cents]).toEqual([9999, 0]);
  });
});

describe("switched off, which is usual,", () => {
  beforeAll(async () => {
    await world.close();
    world = await startBillingWorld({}, start);
  });

  test("Stripe is asked nothing of tax, and nobody is told anything of it", async () => {
    const person = await world.person();
    expect(await preview(person, "starter_month")).toMatchObject({ tax: null });
    await world.buy(person);
    await world.settle();
    const [shown] = await invoicesOf(person);
    expect(shown).toMatchObject({ tax: null, addressMissing: false });
    const { payments } = world.deps;
    const invoice = await payments.invoices.retrieve(shown?.id ?? "");
    expect(invoice).toMatchObject({ automatic_tax: { enabled: false }, total_taxes: [], customer_address: null });
    expect((await payments.subscriptions.list()).data).toMatchObject([{ automatic_tax: { enabled: false } }]);
    expect((await payments.checkout.sessions.list()).data).toMatchObject([
      { automatic_tax: { enabled: false }, billing_address_collection: null },
    ]);
    for (const price of (await payments.prices.list({ limit: 100 })).data) expect(price.tax_behavior).toBe("unspecified");
    const [mail] = await mailsTo(world, person, "subscription-started");
    expect(mail).not.toHaveProperty("taxCents");
    const account = (await compareAccount(payments, "https://t.example")).map(({ what }) => what);
    expect(account.filter((what) => /tax/i.test(what))).toEqual([]);
  });

  test("prices that were made without it are taken over when it is switched on", async () => {
    for (const { repair } of await compareAccount(world.deps.payments, "https://t.example")) await repair?.();
    const differences = await compareAccount(world.deps.payments, "https://t.example", "included");
    expect(differences.filter(({ what }) => what.includes("does not say that it includes tax"))).toHaveLength(12);
    for (const { repair } of differences) await repair?.();
    const left = await compareAccount(world.deps.payments, "https://t.example", "included");
    expect(left.every(({ repair }) => repair === undefined)).toBe(true);
  });
});

test("a mail says how much of a payment is tax, in the reader's language", () => {
  const parameters = { plan: "basic", amountCents: 3999, taxCents: 639, credits: 600, priceCents: 3999, renewsAt: start.toISOString() };
  const config = { publicUrl: new URL("https://t.example"), contactEmail: "team@t.example", postalAddress: "T, 1 Street" };
  const mail = renderMail(config as never, { template: "plan-renewed", language: "de", parameters } as never);
  expect(mail.text).toMatch(/Im bezahlten Betrag sind 6,39\s\$ Steuern enthalten/);
});
