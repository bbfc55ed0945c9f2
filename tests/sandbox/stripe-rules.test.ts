/** What Stripe refuses, and what the sandbox does not play: neither is accepted and ignored. */
import type Stripe from "stripe";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Harness } from "./stripe/harness.ts";
import { createPlan, createSession, pay, Receiver, refusal, startSandbox, subscribe } from "./stripe/harness.ts";

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

const packOrder = {
  mode: "payment",
  line_items: [{ price_data: { currency: "usd", unit_amount: 799, product_data: { name: "100 credits" } }, quantity: 1 }],
  success_url: "http://127.0.0.1:3000/profile?session={CHECKOUT_SESSION_ID}",
} as const satisfies Stripe.Checkout.SessionCreateParams;

describe("what is not played is refused by name", () => {
  const settings: [string, Stripe.Checkout.SessionCreateParams][] = [
    ["allow_promotion_codes", { allow_promotion_codes: true }],
    ["automatic_tax[liability]", { automatic_tax: { enabled: true, liability: { type: "self" } } }],
    ["billing_address_collection", { billing_address_collection: "required" }],
    ["consent_collection", { consent_collection: { terms_of_service: "required" } }],
    ["tax_id_collection[required]", { tax_id_collection: { enabled: true, required: "if_supported" } }],
    ["ui_mode", { ui_mode: "embedded_page" }],
    ["custom_text[terms_of_service_acceptance]", { custom_text: { terms_of_service_acceptance: { message: "I agree" } } }],
    ["payment_intent_data[capture_method]", { payment_intent_data: { capture_method: "manual" } }],
  ];
  test.each(settings)("%s in Checkout", async (param, setting) => {
    expect(await refusal(stripe.checkout.sessions.create({ ...packOrder, ...setting }))).toMatchObject({
      statusCode: 400,
      param,
      message: expect.stringContaining(`The sandbox`),
    });
  });

  test("in subscriptions, intents, invoices, schedules, customers and the portal", async () => {
    const { subscription, customer } = await subscribe(harness);
    const item = String(subscription.items.data[0]?.id);
    const yearly = await createPlan(stripe, "Basic", 38_390, "year");
    const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id });
    const refused: [string, Promise<unknown>][] = [
      ["billing_cycle_anchor", stripe.subscriptions.update(subscription.id, { billing_cycle_anchor: "now" as never })],
      ["payment_behavior", stripe.subscriptions.update(subscription.id, { payment_behavior: "pending_if_incomplete" })],
      ["prorate", stripe.subscriptions.cancel(subscription.id, { prorate: true })],
      ["invoice_now", stripe.subscriptions.cancel(subscription.id, { invoice_now: true })],
      ["invoice_now", stripe.subscriptionSchedules.cancel(schedule.id)],
      ["proration_behavior", stripe.subscriptions.update(subscription.id, { items: [{ id: item, price: yearly.id }] })],
      ["capture_method", stripe.paymentIntents.create({ amount: 500, currency: "usd", capture_method: "manual" })],
      ["tax_exempt", stripe.customers.create({ tax_exempt: "reverse" })],
      ["flow_data", stripe.billingPortal.sessions.create({ customer, flow_data: { type: "payment_method_update" } })],
      ["configuration", stripe.billingPortal.sessions.create({ customer, configuration: "bpc_1" })],
      ["forgive", stripe.invoices.pay(String(subscription.latest_invoice), { forgive: true })],
    ];
    for (const [param, call] of refused) expect(await refusal(call)).toMatchObject({ statusCode: 400, param });
    expect(await stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ status: "active" });
  });

  test("by a clear error of Stripe's form for everything that is not there: previews, trials, credit notes, balances, other methods, tax ids", async () => {
    const { subscription, customer, price } = await subscribe(harness);
    const plan: Stripe.Checkout.SessionCreateParams = {
      ...{ mode: "subscription", line_items: [{ price: price.id, quantity: 1 }], success_url: "http://x.test/" },
    };
    const sent: Stripe.SubscriptionCreateParams = {
      customer,
      items: [{ price: price.id }],
      collection_method: "send_invoice",
      days_until_due: 7,
    };
    const { checkout, customers, tax } = stripe;
    const debit = { amount: 500, currency: "eur" };
    const notPlayed: [string, () => Promise<unknown>][] = [
      ["previews of invoices", () => stripe.invoices.createPreview({ customer })],
      ["invoices that are made by hand", () => stripe.invoices.create({ customer })],
      ["invoice items", () => stripe.invoiceItems.create({ customer, amount: 100, currency: "usd" })],
      ["credit notes", () => stripe.creditNotes.preview({ invoice: "in_1", amount: 100 })],
      ["cash balances", () => customers.retrieveCashBalance(customer)],
      ["cash balances", () => stripe.testHelpers.customers.fundCashBalance(customer, { amount: 100, currency: "eur" })],
      ["balances of customers", () => customers.createBalanceTransaction(customer, { amount: -1, currency: "usd" })],
      ["tax ids", () => customers.createTaxId(customer, { type: "us_ein", value: "12-3456789" })],
      ["tax_id_data", () => customers.create({ tax_id_data: [{ type: "eu_vat", value: "DE123456789" }] })],
      ["tax calculations", () => tax.calculations.create({ currency: "usd", line_items: [{ amount: 100 }] })],
      ["tax rates", () => stripe.taxRates.create({ display_name: "VAT", percentage: 19, inclusive: true })],
      ["trial_period_days", () => checkout.sessions.create({ ...plan, subscription_data: { trial_period_days: 7 } })],
      ["trial_period_days", () => stripe.subscriptions.create({ ...sent, trial_period_days: 7 })],
      ["trial_end", () => stripe.subscriptions.update(subscription.id, { trial_end: "now" })],
      ["allowed_payment_method_types", () => checkout.sessions.create({ ...plan, allowed_payment_method_types: ["paypal"] })],
      ["allowed_payment_method_types", () => stripe.paymentIntents.create({ ...debit, allowed_payment_method_types: ["sepa_debit"] })],
      ["type only as card", () => stripe.paymentMethods.create({ type: "paypal" })],
      ["saving a card", () => stripe.setupIntents.create({ customer })],
      ["promotion codes", () => stripe.promotionCodes.list()],
      ["this part of the API", () => stripe.testHelpers.testClocks.list()],
    ];
    const before = (await stripe.events.list({ limit: 100 })).data.length;
    for (const [what, call] of notPlayed) {
      const { statusCode, type, message } = await refusal(call());
      expect([statusCode, type], what).toEqual([400, "StripeInvalidRequestError"]);
      expect(message).toMatch(/^The sandbox (does not play|plays) /);
      expect(message).toContain(what);
    }
    expect((await stripe.events.list({ limit: 100 })).data).toHaveLength(before);
  });

  test("languages, submit texts and a customer's languages are kept as they were given", async () => {
    const session = await stripe.checkout.sessions.create({
      ...packOrder,
      locale: "de",
      submit_type: "pay",
      custom_text: { submit: { message: "You order & have to pay" }, after_submit: { message: "Thank <you>" } },
    });
    expect(session).toMatchObject({ locale: "de", submit_type: "pay", custom_text: { submit: { message: "You order & have to pay" } } });
    const page = await (await fetch(String(session.url))).text();
    expect(page).toContain("You order &amp; have to pay");
    expect(page).toContain("Thank &lt;you&gt;");
    expect(await refusal(stripe.checkout.sessions.create({ ...packOrder, locale: "xx" as never }))).toMatchObject({ param: "locale" });
    expect(await stripe.customers.create({ preferred_locales: ["de", "en"] })).toMatchObject({ preferred_locales: ["de", "en"] });
  });
});

describe("input that Stripe refuses", () => {
  test("in Checkout: no mode, no quantity, totals below the least charge, what belongs to the other mode", async () => {
    const { mode: _mode, ...modeless } = packOrder;
    const line = packOrder.line_items[0];
    const cheap = { ...line, price_data: { ...line.price_data, unit_amount: 49 } };
    expect(await refusal(stripe.checkout.sessions.create(modeless as never))).toMatchObject({ param: "mode", code: "parameter_missing" });
    expect(await refusal(stripe.checkout.sessions.create({ ...packOrder, line_items: [{ price_data: line.price_data }] }))).toMatchObject({
      param: "line_items[0][quantity]",
      code: "parameter_missing",
    });
    expect(await refusal(stripe.checkout.sessions.create({ ...packOrder, line_items: [cheap] }))).toMatchObject({
      code: "amount_too_small",
    });
    expect(await refusal(stripe.checkout.sessions.create({ ...packOrder, subscription_data: { metadata: { a: "b" } } }))).toMatchObject({
      param: "subscription_data",
    });
    const plan = await createPlan(stripe, "Starter", 1999);
    expect(await refusal(createSession(harness, plan.id, { invoice_creation: { enabled: true } }))).toMatchObject({
      param: "invoice_creation",
    });
    const customer = await stripe.customers.create({ email: "a@example.com" });
    expect(
      await refusal(stripe.checkout.sessions.create({ ...packOrder, customer: customer.id, customer_creation: "always" })),
    ).toMatchObject({ param: "customer_creation" });
    // Its first payment is nothing, and its renewals would go to the customer's balance.
    const tiny = await createPlan(stripe, "Tiny", 49);
    expect(await refusal(createSession(harness, tiny.id, { subscription_data: { trial_period_days: 7 } }))).toMatchObject({
      param: "line_items[0][price]",
      message: expect.stringContaining("at least 50 cents"),
    });
  });

  test("currencies that nobody has, long names of coupons, statuses that no invoice has", async () => {
    expect(await refusal(stripe.prices.create({ currency: "xxz", unit_amount: 100, product_data: { name: "A" } }))).toMatchObject({
      param: "currency",
    });
    expect(await refusal(stripe.coupons.create({ percent_off: 10, name: "n".repeat(41) }))).toMatchObject({ param: "name" });
    expect(await refusal(stripe.invoices.list({ status: "bogus" as never }))).toMatchObject({ param: "status" });
  });

  test("expanding more than four levels, lists included, and fields that hold no object of their own", async () => {
    const { session } = await subscribe(harness);
    const deep = await stripe.invoices.list({ expand: ["data.payments"] });
    expect(deep.data[0]).toMatchObject({ payments: { data: [{ status: "paid" }] } });
    expect(await refusal(stripe.invoices.list({ expand: ["data.payments.data.payment.payment_intent"] }))).toMatchObject({
      statusCode: 400,
    });
    // Texts, parts of the object, fields that are null, and lists of texts.
    for (const field of ["currency", "amount_total", "metadata", "total_details", "client_reference_id", "payment_method_types"])
      expect(await refusal(stripe.checkout.sessions.retrieve(session.id, { expand: [field] }))).toMatchObject({ statusCode: 400 });
  });
});

describe("cards", () => {
  test("a detached card pays nothing any more and can't be attached again", async () => {
    const { subscription, customer } = await subscribe(harness);
    const card = String(subscription.default_payment_method);
    await stripe.paymentMethods.detach(card);
    expect(await stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ default_payment_method: null });
    expect(await refusal(stripe.paymentMethods.attach(card, { customer }))).toMatchObject({
      message: expect.stringContaining("may not be used again"),
    });
    expect(await refusal(stripe.subscriptions.update(subscription.id, { default_payment_method: card }))).toMatchObject({
      statusCode: 400,
    });
    const intent = await stripe.paymentIntents.create({ amount: 500, currency: "usd", customer });
    expect(await refusal(stripe.paymentIntents.confirm(intent.id, { payment_method: card }))).toMatchObject({ statusCode: 400 });
    await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
    expect(await stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ status: "past_due" });
  });

  test("a card that was paid with and not saved can't pay again", async () => {
    const card = await stripe.paymentMethods.create({ type: "card", card: { token: "tok_visa" } });
    await stripe.paymentIntents.create({ amount: 500, currency: "usd", confirm: true, payment_method: card.id });
    const again = stripe.paymentIntents.create({ amount: 500, currency: "usd", confirm: true, payment_method: card.id });
    expect(await refusal(again)).toMatchObject({ message: expect.stringContaining("may not be used again") });
  });

  test("another customer's card is taken for nothing: default, intent, invoice", async () => {
    const { subscription, customer } = await subscribe(harness);
    const stranger = await stripe.customers.create({ email: "eve@example.com" });
    const foreign = await stripe.paymentMethods.attach("pm_card_visa", { customer: stranger.id });
    const bad = await stripe.paymentMethods.attach("pm_card_chargeCustomerFail", { customer });
    await stripe.subscriptions.update(subscription.id, { default_payment_method: bad.id });
    await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
    const [open] = (await stripe.invoices.list({ subscription: subscription.id, status: "open" })).data;
    const intent = await stripe.paymentIntents.create({ amount: 500, currency: "usd", customer });
    const settings = { default_payment_method: foreign.id };
    for (const call of [
      stripe.customers.update(customer, { invoice_settings: settings }),
      stripe.subscriptions.update(subscription.id, settings),
      stripe.invoices.pay(String(open?.id), { payment_method: foreign.id }),
      stripe.paymentIntents.confirm(intent.id, { payment_method: foreign.id }),
    ])
      expect(await refusal(call)).toMatchObject({ statusCode: 400 });
    expect((await stripe.charges.list({ customer })).data.filter((charge) => charge.payment_method === foreign.id)).toEqual([]);
  });

  test("Checkout makes the card the subscription's default, not the customer's", async () => {
    const { subscription, customer } = await subscribe(harness);
    expect(subscription.default_payment_method).toMatch(/^pm_/);
    expect(await stripe.customers.retrieve(customer)).toMatchObject({ invoice_settings: { default_payment_method: null } });
  });
});

describe("idempotency", () => {
  test("a refusal of a call that had begun is the key's answer for good, and leaves nothing else behind", async () => {
    const price = await createPlan(stripe, "Starter", 1999);
    await stripe.prices.update(price.id, { active: false });
    const order: Stripe.Checkout.SessionCreateParams = {
      mode: "subscription",
      line_items: [{ price: price.id, quantity: 1 }],
      success_url: "http://x.test/",
    };
    const key = { idempotencyKey: "inactive" };
    const first = await refusal(stripe.checkout.sessions.create(order, key));
    await stripe.prices.update(price.id, { active: true });
    const second = await refusal(stripe.checkout.sessions.create(order, key));
    expect([second.message, second.headers?.["idempotent-replayed"]]).toEqual([first.message, "true"]);
    expect((await stripe.checkout.sessions.list()).data).toEqual([]);
    const begun = { currency: "usd", unit_amount: 100, product_data: { name: "Twice" }, lookup_key: "starter_month" } as const;
    const products = (await stripe.products.list()).data.length;
    expect(await refusal(stripe.prices.create(begun, { idempotencyKey: "half" }))).toMatchObject({ code: "resource_already_exists" });
    expect((await stripe.products.list()).data).toHaveLength(products);
  });
});

describe("a single payment", () => {
  test("with an invoice: paid, numbered, on the customer, with its discount, and announced", async () => {
    const customer = await stripe.customers.create({ email: "ada@example.com" });
    const coupon = await stripe.coupons.create({ percent_off: 25, duration: "once" });
    const session = await stripe.checkout.sessions.create({
      ...packOrder,
      customer: customer.id,
      discounts: [{ coupon: coupon.id }],
      payment_intent_data: { metadata: { pack: "pack_100" }, receipt_email: "ada@example.com" },
      invoice_creation: { enabled: true, invoice_data: { description: "Credits", metadata: { pack: "pack_100" } } },
    });
    expect(session.invoice_creation).toMatchObject({ enabled: true, invoice_data: { description: "Credits" } });
    await pay(harness, session.id, "declined");
    expect((await stripe.invoices.list()).data).toEqual([]);
    await pay(harness, session.id, "success");
    const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ["invoice.payments"] });
    expect(paid).toMatchObject({
      status: "complete",
      payment_status: "paid",
      customer: customer.id,
      invoice: {
        status: "paid",
        billing_reason: "manual",
        parent: null,
        description: "Credits",
        metadata: { pack: "pack_100" },
        subtotal: 799,
        total: 599,
        amount_paid: 599,
        number: expect.stringMatching(/-0001$/),
        payments: { data: [{ status: "paid", payment: { payment_intent: paid.payment_intent } }] },
        lines: { data: [{ amount: 799, description: "100 credits", discount_amounts: [{ amount: 200 }] }] },
      },
    });
    expect(await stripe.paymentIntents.retrieve(String(paid.payment_intent))).toMatchObject({
      receipt_email: "ada@example.com",
      metadata: { pack: "pack_100" },
    });
    await harness.sandbox.flushDeliveries();
    expect(receiver.types()).toEqual(
      expect.arrayContaining(["invoice.created", "invoice.finalized", "invoice.paid", "checkout.session.completed"]),
    );
  });

  test("saves the card only if it is asked to, and makes a customer only then", async () => {
    const plain = await stripe.checkout.sessions.create({ ...packOrder, customer_email: "guest@example.com" });
    await pay(harness, plain.id, "success");
    expect((await stripe.checkout.sessions.retrieve(plain.id)).customer).toBeNull();
    const saving = await stripe.checkout.sessions.create({
      ...packOrder,
      customer_email: "guest@example.com",
      payment_intent_data: { setup_future_usage: "off_session" },
    });
    await pay(harness, saving.id, "authentication");
    const { customer } = await stripe.checkout.sessions.retrieve(saving.id);
    expect((await stripe.customers.listPaymentMethods(String(customer))).data).toHaveLength(1);
  });
});
