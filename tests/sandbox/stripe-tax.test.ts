/** Stripe Tax as the sandbox plays it: prices that include the tax of the customer's country. */
import type Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Harness } from "./stripe/harness.ts";
import { createSession, payFrom, Receiver, refusal, startSandbox, switchTaxOn } from "./stripe/harness.ts";

let harness: Harness;
let receiver: Receiver;
let stripe: Stripe;

beforeEach(async () => {
  receiver = new Receiver();
  harness = await startSandbox({ webhookPort: await receiver.listen() });
  stripe = harness.stripe;
});

afterEach(async () => {
  await harness.close();
  await receiver.close();
});

async function plan(cents = 1999): Promise<string> {
  const recurring = { interval: "month" } as const;
  const data = { currency: "usd", unit_amount: cents, recurring, product_data: { name: "Starter" }, tax_behavior: "inclusive" } as const;
  return (await stripe.prices.create(data)).id;
}

const taxed = { automatic_tax: { enabled: true } } as const;

/** A subscriber from `country`, and their first invoice. */
async function subscribe(country: string, extra: Stripe.Checkout.SessionCreateParams = {}) {
  const customer = (await stripe.customers.create({ email: "ada@example.com" })).id;
  const session = await createSession(harness, await plan(), { customer, ...taxed, customer_update: { address: "auto" }, ...extra });
  expect(session).toMatchObject({ automatic_tax: { status: "requires_location_inputs" }, amount_total: session.amount_total });
  await payFrom(harness, session.id, country);
  const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ["invoice", "line_items"] });
  return { customer, session: paid, invoice: paid.invoice as Stripe.Invoice, subscription: String(paid.subscription) };
}

/** Percent and cents of an invoice's tax. */
async function taxOf(invoice: Stripe.Invoice): Promise<[number, number, string]> {
  const [tax] = invoice.total_taxes ?? [];
  const rate = await stripe.taxRates.retrieve(String(tax?.tax_rate_details?.tax_rate));
  return [rate.percentage, tax?.amount ?? -1, tax?.taxability_reason ?? ""];
}

test("without an origin nothing is reckoned; with it and a registration the account is active", async () => {
  expect(await stripe.tax.settings.retrieve()).toMatchObject({ status: "pending", head_office: null });
  expect(await refusal(createSession(harness, await plan(), taxed))).toMatchObject({ param: "automatic_tax[enabled]" });
  await switchTaxOn(stripe);
  expect(await stripe.tax.settings.retrieve()).toMatchObject({ status: "active", head_office: { address: { country: "DE" } } });
  expect((await stripe.tax.registrations.list({ status: "active" })).data).toMatchObject([{ country: "DE", status: "active" }]);
});

test("a sandbox that is started for it is set up, and keeps what an operator changes", async () => {
  const ready = await startSandbox({ webhookPort: 1, taxes: true });
  try {
    expect(await ready.stripe.tax.settings.retrieve()).toMatchObject({ status: "active" });
    expect((await ready.stripe.tax.registrations.list()).data).toMatchObject([{ country: "DE", status: "active" }]);
  } finally {
    await ready.close();
  }
});

describe("once it is switched on", () => {
  beforeEach(() => switchTaxOn(stripe));

  test.each([
    ["DE", [19, 319, "standard_rated"]],
    ["FR", [20, 333, "standard_rated"]],
    ["FI", [25.5, 406, "standard_rated"]],
    ["CH", [0, 0, "not_collecting"]],
  ])("the price is the same for a buyer from %s, and the tax within it theirs", async (country, tax) => {
    const { session, invoice, customer } = await subscribe(country);
    expect(await taxOf(invoice)).toEqual(tax);
    const cents = Number(tax[1]);
    expect(session).toMatchObject({ amount_total: 1999, total_details: { amount_tax: cents }, automatic_tax: { status: "complete" } });
    expect(session.line_items?.data).toMatchObject([{ amount_total: 1999, amount_tax: cents }]);
    expect(invoice).toMatchObject({
      ...{ total: 1999, amount_paid: 1999, total_excluding_tax: 1999 - cents, customer_address: { country } },
      lines: { data: [{ amount: 1999, taxes: [{ amount: cents, tax_behavior: "inclusive" }] }] },
    });
    const expanded = await stripe.customers.retrieve(customer, { expand: ["tax"] });
    expect(expanded).toMatchObject({ address: { country }, tax: { automatic_tax: cents ? "supported" : "not_collecting" } });
  });

  test("a discount lowers the tax with the price, and a renewal is taxed where the customer is by then", async () => {
    const coupon = await stripe.coupons.create({ percent_off: 20, duration: "once" });
    const { invoice, customer, subscription } = await subscribe("DE", { discounts: [{ coupon: coupon.id }] });
    expect([invoice.total, await taxOf(invoice)]).toEqual([1599, [19, 255, "standard_rated"]]);
    await stripe.customers.update(customer, { address: { country: "FR" } });
    await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
    const [renewal] = (await stripe.invoices.list({ subscription })).data;
    expect([renewal?.status, renewal && (await taxOf(renewal))]).toEqual(["paid", [20, 333, "standard_rated"]]);
  });

  test("a pack's invoice has it too, and a refund leaves the invoice as it is", async () => {
    const customer = (await stripe.customers.create({ email: "ada@example.com", address: { country: "DE" } })).id;
    const session = await stripe.checkout.sessions.create({
      ...{ mode: "payment", customer, ...taxed, success_url: "http://127.0.0.1:3000/", invoice_creation: { enabled: true } },
      line_items: [
        { quantity: 1, price_data: { currency: "usd", unit_amount: 799, product_data: { name: "Pack" }, tax_behavior: "inclusive" } },
      ],
    });
    expect(session).toMatchObject({ automatic_tax: { status: "complete" }, total_details: { amount_tax: 128 } });
    await payFrom(harness, session.id, "");
    const paid = await stripe.checkout.sessions.retrieve(session.id);
    await stripe.refunds.create({ payment_intent: String(paid.payment_intent), amount: 400 });
    expect(await taxOf(await stripe.invoices.retrieve(String(paid.invoice)))).toEqual([19, 128, "standard_rated"]);
  });

  test("an invoice that is sent needs the customer's address first", async () => {
    const { id: customer } = await stripe.customers.create({ email: "office@example.com" });
    const items = [{ price: await plan() }];
    const sent: Stripe.SubscriptionCreateParams = { customer, items, collection_method: "send_invoice", days_until_due: 14, ...taxed };
    expect(await refusal(stripe.subscriptions.create(sent))).toMatchObject({ code: "customer_tax_location_invalid" });
    await stripe.customers.update(customer, { address: { country: "DE" }, tax: { validate_location: "immediately" } });
    const { latest_invoice: id } = await stripe.subscriptions.create(sent);
    expect(await taxOf(await stripe.invoices.finalizeInvoice(String(id)))).toEqual([19, 319, "standard_rated"]);
  });

  test("a renewal of somebody whose address is gone goes on without tax, and says why", async () => {
    const { customer, subscription } = await subscribe("DE");
    await stripe.customers.update(customer, { address: "" });
    await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
    const [renewal] = (await stripe.invoices.list({ subscription })).data;
    expect(renewal).toMatchObject({
      ...{ status: "paid", total: 1999, total_taxes: [] },
      automatic_tax: { enabled: false, disabled_reason: "finalization_requires_location_inputs" },
    });
    expect(await stripe.subscriptions.retrieve(subscription)).toMatchObject({
      automatic_tax: { enabled: false, disabled_reason: "requires_location_inputs" },
    });
  });

  test("people correct their address in the portal if its configuration says so", async () => {
    const { customer } = await subscribe("DE");
    const features = { customer_update: { enabled: true, allowed_updates: ["address" as const] } };
    const { id: configuration } = await stripe.billingPortal.configurations.create({ features });
    const [plain, open] = [
      await stripe.billingPortal.sessions.create({ customer }),
      await stripe.billingPortal.sessions.create({ customer, configuration }),
    ];
    const post = (url: string, country: string) =>
      fetch(`${url}/address`, { method: "POST", redirect: "manual", body: new URLSearchParams({ country, postal_code: "75001" }) });
    expect((await post(plain.url, "FR")).status).toBe(400);
    expect(
      [await (await fetch(plain.url)).text(), await (await fetch(open.url)).text()].map((page) => page.includes("Save the address")),
    ).toEqual([false, true]);
    expect([(await post(open.url, "")).status, (await post(open.url, "FR")).status]).toEqual([400, 303]);
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ address: { country: "FR", postal_code: "75001" } });
    const email = { customer_update: { enabled: true, allowed_updates: ["email" as const] } };
    expect(await refusal(stripe.billingPortal.configurations.create({ features: email }))).toMatchObject({ statusCode: 400 });
  });

  test("a schedule keeps it, or says otherwise for a phase", async () => {
    const { subscription } = await subscribe("DE");
    const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription });
    const [current] = schedule.phases;
    expect([schedule.default_settings.automatic_tax?.enabled, current?.automatic_tax?.enabled]).toEqual([true, true]);
    const dates = { start_date: Number(current?.start_date), end_date: Number(current?.end_date) };
    const phases = [
      { items: [{ price: String(current?.items[0]?.price) }], ...dates },
      { items: [{ price: await plan(3999) }], automatic_tax: { enabled: false } },
    ];
    await stripe.subscriptionSchedules.update(schedule.id, { phases, proration_behavior: "none" });
    expect(await stripe.subscriptions.retrieve(subscription)).toMatchObject({ automatic_tax: { enabled: true } });
    await harness.advanceTo(new Date("2026-03-01T00:00:00Z"));
    expect(await stripe.subscriptions.retrieve(subscription)).toMatchObject({ automatic_tax: { enabled: false } });
  });

  const asking = { tax_id_collection: { enabled: true }, customer_update: { address: "auto", name: "auto" } } as const;
  const business = { tax_id: "fr40303265045", business_name: "Exemple SARL" };

  test("a business elsewhere in the Union gives its number and owes the tax itself; its invoices show both, the renewal too", async () => {
    const customer = (await stripe.customers.create({ email: "ada@example.com" })).id;
    const session = await createSession(harness, await plan(), { customer, ...taxed, ...asking });
    expect(await (await fetch(String(session.url))).text()).toContain("VAT number");
    expect((await payFrom(harness, session.id, "DE", business)).status).toBe(400);
    expect((await payFrom(harness, session.id, "FR", { ...business, business_name: "" })).status).toBe(400);
    expect((await payFrom(harness, session.id, "FR", business)).status).toBe(303);
    const taxId = { type: "eu_vat", value: "FR40303265045" };
    expect((await stripe.customers.listTaxIds(customer)).data).toMatchObject([{ ...taxId, country: "FR", customer }]);
    const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ["invoice", "customer"] });
    expect(paid).toMatchObject({
      ...{ amount_total: 1999, total_details: { amount_tax: 0 } },
      collected_information: { business_name: "Exemple SARL" },
      customer_details: { business_name: "Exemple SARL", tax_ids: [taxId] },
      customer: { name: "Exemple SARL" },
      invoice: { total: 1999, customer_name: "Exemple SARL", customer_tax_ids: [taxId] },
    });
    const shown = await (await fetch(String((paid.invoice as Stripe.Invoice).hosted_invoice_url))).text();
    expect(shown).toContain("Exemple SARL, VAT number FR40303265045. Tax to be paid on reverse charge basis.");
    await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
    const [renewal] = (await stripe.invoices.list({ customer })).data;
    expect(renewal).toMatchObject({ status: "paid", total: 1999, customer_tax_ids: [taxId] });
    expect(renewal && (await taxOf(renewal))).toEqual([0, 0, "reverse_charge"]);
  });

  test("a business at home pays the tax as everybody does, and corrects or takes away its number in the portal", async () => {
    const { customer, invoice } = await subscribe("DE", asking);
    expect(invoice.customer_tax_ids).toEqual([]);
    const features = { customer_update: { enabled: true, allowed_updates: ["address" as const, "tax_id" as const] } };
    const { id: configuration } = await stripe.billingPortal.configurations.create({ features });
    const { url } = await stripe.billingPortal.sessions.create({ customer, configuration });
    const post = (fields: Record<string, string>) =>
      fetch(`${url}/tax-id`, { method: "POST", redirect: "manual", body: new URLSearchParams(fields) });
    expect((await post(business)).status).toBe(400);
    expect((await post({ tax_id: "DE123456789", business_name: "Beispiel GmbH" })).status).toBe(303);
    expect((await stripe.customers.listTaxIds(customer)).data).toMatchObject([{ value: "DE123456789" }]);
    await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
    const [renewal] = (await stripe.invoices.list({ customer })).data;
    expect(renewal && [renewal.customer_name, await taxOf(renewal)]).toEqual(["Beispiel GmbH", [19, 319, "standard_rated"]]);
    expect((await post({})).status).toBe(303);
    expect((await stripe.customers.listTaxIds(customer)).data).toEqual([]);
  });

  test("what Stripe refuses, and what the sandbox does not play", async () => {
    const exclusive = { currency: "usd", unit_amount: 1999, recurring: { interval: "month" }, product_data: { name: "A" } } as const;
    const [bare, added] = [await stripe.prices.create(exclusive), await stripe.prices.create({ ...exclusive, tax_behavior: "exclusive" })];
    const { id: customer } = await stripe.customers.create({ email: "a@example.com" });
    const session = await createSession(harness, await plan(), taxed);
    expect((await payFrom(harness, session.id, "")).status).toBe(400);
    expect((await payFrom(harness, session.id, "US")).status).toBe(400);
    const body = new URLSearchParams({ card: "success", from: "page", country: "US" });
    const again = await fetch(`${harness.address}/checkout/${session.id}/pay`, { method: "POST", body });
    expect(await again.text()).toContain("give the postal code in Canada and the United States");
    const refused: [Partial<Stripe.errors.StripeError>, () => Promise<unknown>][] = [
      [{ param: "line_items[0][price]" }, async () => createSession(harness, bare.id, taxed)],
      [{ param: "automatic_tax" }, async () => createSession(harness, added.id, taxed)],
      [{ code: "customer_tax_location_invalid" }, async () => createSession(harness, await plan(), { customer, ...taxed })],
      [{ param: "customer_update" }, async () => createSession(harness, await plan(), { ...taxed, customer_update: { address: "auto" } })],
      [
        { param: "automatic_tax[liability]" },
        async () => createSession(harness, bare.id, { automatic_tax: { enabled: true, liability: { type: "self" } } }),
      ],
      [
        { param: "customer_update" },
        async () => createSession(harness, await plan(), { customer, ...taxed, ...asking, customer_update: { address: "auto" } }),
      ],
      [{ param: "address[country]" }, async () => stripe.customers.update(customer, { address: { country: "XX" } })],
      [
        { param: "country" },
        async () =>
          stripe.tax.registrations.create({
            country: "US",
            active_from: "now",
            country_options: { us: { state: "CA", type: "state_sales_tax" } },
          }),
      ],
      [
        { param: "country_options[fr][type]" },
        async () => stripe.tax.registrations.create({ country: "FR", active_from: "now", country_options: { fr: { type: "ioss" } } }),
      ],
      [
        { param: "country" },
        async () =>
          stripe.tax.registrations.create({
            country: "DE",
            active_from: "now",
            country_options: { de: { type: "standard", standard: { place_of_supply_scheme: "standard" } } },
          }),
      ],
    ];
    for (const [expected, call] of refused) expect(await refusal(call())).toMatchObject({ statusCode: 400, ...expected });
  });
});
