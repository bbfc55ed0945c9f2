import type Stripe from "stripe";
import { expect, test } from "vitest";
import { until } from "#tests/support/until.ts";
import type { Harness } from "./stripe/harness.ts";
import { createPlan, createSession, pay, payFrom, Receiver, startSandbox, subscribe, switchTaxOn } from "./stripe/harness.ts";
import { Recording, typeErrors } from "./stripe/recorded-types.ts";

async function lists(stripe: Stripe, invoice: string, session: string, customer: string): Promise<void> {
  await stripe.customers.list();
  await stripe.products.list();
  await stripe.prices.list({ expand: ["data.product"] });
  await stripe.coupons.list();
  await stripe.charges.list({ expand: ["data.refunds", "data.balance_transaction"] });
  await stripe.refunds.list({ expand: ["data.charge"] });
  await stripe.paymentIntents.list({ expand: ["data.latest_charge"] });
  await stripe.paymentMethods.list({ customer });
  await stripe.customers.listPaymentMethods(customer);
  await stripe.balanceTransactions.list({ limit: 100 });
  await stripe.disputes.list({ expand: ["data.charge"] });
  await stripe.subscriptions.list({
    status: "all",
    expand: ["data.latest_invoice.payments", "data.customer", "data.default_payment_method"],
  });
  await stripe.subscriptionSchedules.list({ expand: ["data.subscription", "data.phases.items.price"] });
  await stripe.invoices.list({
    expand: ["data.payments", "data.lines", "data.discounts", "data.customer"],
  });
  await stripe.invoices.listLineItems(invoice);
  await stripe.invoicePayments.list({ invoice });
  await stripe.checkout.sessions.list({ expand: ["data.line_items", "data.subscription", "data.payment_intent"] });
  await stripe.checkout.sessions.listLineItems(session);
  await stripe.events.list({ limit: 100 });
}

async function failAndRecover(harness: Harness, customer: string, subscription: string): Promise<void> {
  const { stripe } = harness;
  const bad = await stripe.paymentMethods.attach("pm_card_chargeCustomerFail", { customer });
  await stripe.subscriptions.update(subscription, { default_payment_method: bad.id });
  await harness.advanceTo(new Date("2026-02-28T12:00:00Z"));
  const [open] = (await stripe.invoices.list({ subscription, status: "open" })).data;
  const good = await stripe.paymentMethods.create({ type: "card", card: { token: "tok_visa" } });
  await stripe.paymentMethods.attach(good.id, { customer });
  await stripe.invoices.pay(String(open?.id), { payment_method: good.id, expand: ["payments"] });
  await stripe.subscriptions.update(subscription, { default_payment_method: good.id });
  await stripe.paymentMethods.detach(bad.id);
}

async function changePlan(harness: Harness, subscription: string): Promise<void> {
  const { stripe } = harness;
  const annual = await createPlan(stripe, "Basic", 38_390, "year");
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription });
  const current = schedule.phases[0];
  await stripe.subscriptionSchedules.update(schedule.id, {
    phases: [
      {
        items: [{ price: String(current?.items[0]?.price) }],
        start_date: Number(current?.start_date),
        end_date: Number(current?.end_date),
      },
      { items: [{ price: annual.id }], proration_behavior: "none", billing_cycle_anchor: "phase_start" },
    ],
  });
  await stripe.subscriptionSchedules.release(schedule.id);
  const item = (await stripe.subscriptions.retrieve(subscription)).items.data[0];
  await stripe.subscriptions.update(subscription, { items: [{ id: String(item?.id), price: annual.id }], proration_behavior: "none" });
  await stripe.subscriptions.update(subscription, { cancel_at_period_end: true });
}

async function disputeAndRefund(harness: Harness): Promise<void> {
  const { stripe } = harness;
  const [first, second, third] = (await stripe.charges.list()).data.filter((charge) => charge.paid);
  await stripe.refunds.create({ charge: String(first?.id), amount: 100, metadata: { why: "test" } });
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${harness.address}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const dispute = (await (await post("/sandbox/disputes", { charge: second?.id })).json()) as { id: string };
  await stripe.disputes.update(dispute.id, { metadata: { seen: "yes" } });
  await post(`/sandbox/disputes/${dispute.id}/close`, { outcome: "won" });
  const lost = (await (await post("/sandbox/disputes", { charge: third?.id })).json()) as { id: string };
  await stripe.disputes.close(lost.id);
}

/** A renewal that asks its holder, and a schedule that ends its subscription. */
async function askAtRenewal(harness: Harness): Promise<void> {
  const { stripe } = harness;
  const coupon = await stripe.coupons.create({ percent_off: 10, duration: "once" });
  const { subscription, customer } = await subscribe(harness, { discounts: [{ coupon: coupon.id }] });
  const asking = await stripe.paymentMethods.attach("pm_card_authenticationRequired", { customer });
  await stripe.subscriptions.update(subscription.id, { default_payment_method: asking.id });
  await harness.advanceTo(new Date("2026-04-03T00:00:00Z"));
  const [open] = (await stripe.invoices.list({ subscription: subscription.id, status: "open" })).data;
  for (const [action, field] of [
    ["pay", ["card", "saved"]],
    ["authenticate", ["step", "approve"]],
  ] as const)
    await fetch(`${open?.hosted_invoice_url}/${action}`, { method: "POST", body: new URLSearchParams([[...field]]) });
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id });
  await stripe.subscriptionSchedules.update(schedule.id, { end_behavior: "cancel" });
  await harness.advanceTo(new Date("2026-05-03T00:00:00Z"));
}

/** A subscription that is paid by bank transfer. */
async function payByTransfer({ stripe }: Harness): Promise<void> {
  const { id: customer } = await stripe.customers.create({ email: "office@example.com" });
  const price = await createPlan(stripe, "Enterprise", 9_999);
  const sent: Stripe.SubscriptionCreateParams = {
    ...{ customer, items: [{ price: price.id }], collection_method: "send_invoice", days_until_due: 14 },
  };
  const { id, latest_invoice: invoice } = await stripe.subscriptions.create(sent);
  await stripe.invoices.finalizeInvoice(String(invoice));
  await stripe.invoices.pay(String(invoice), { paid_out_of_band: true });
  await stripe.creditNotes.create({ invoice: String(invoice), amount: 999, out_of_band_amount: 999, email_type: "none" });
  await stripe.subscriptions.cancel(id);
}

/** A part of an invoice is refunded, with a credit note for it. */
async function creditRefund(stripe: Stripe, invoice: string): Promise<void> {
  const { data } = await stripe.invoicePayments.list({ invoice });
  const refund = await stripe.refunds.create({ payment_intent: String(data[0]?.payment.payment_intent), amount: 500 });
  const { id } = await stripe.creditNotes.create({ invoice, amount: 500, refunds: [{ refund: refund.id }], email_type: "none" });
  await stripe.creditNotes.retrieve(id);
  await stripe.creditNotes.list({ invoice });
}

/** Debits of US bank accounts: single payments and subscriptions that the bank pays or returns, a renewal by debit, and a refund of one. */
async function payByDebit(harness: Harness): Promise<void> {
  const { stripe } = harness;
  const { id: customer } = await stripe.customers.create({ email: "bank@example.com" });
  const price = await createPlan(stripe, "Basic", 3_999);
  const order: Stripe.Checkout.SessionCreateParams = {
    ...{ mode: "payment", customer, success_url: "http://127.0.0.1:3000/" },
    line_items: [{ price_data: { currency: "usd", unit_amount: 799, product_data: { name: "100 credits" } }, quantity: 1 }],
  };
  const sessions: string[] = [];
  for (const account of ["bank_debit", "bank_debit_fails", "bank_debit_voids"])
    for (const session of [
      await stripe.checkout.sessions.create(order),
      await stripe.checkout.sessions.create({ ...order, invoice_creation: { enabled: true } }),
      await createSession(harness, price.id, { customer }),
    ]) {
      await pay(harness, session.id, account);
      sessions.push(session.id);
    }
  const recordAll = async () => {
    for (const id of sessions) await stripe.checkout.sessions.retrieve(id, { expand: ["payment_intent", "invoice", "subscription"] });
    await stripe.charges.list({ customer, expand: ["data.balance_transaction"] });
    await stripe.paymentIntents.list({ customer, expand: ["data.latest_charge", "data.payment_method"] });
    await stripe.paymentMethods.list({ customer });
    await stripe.invoices.list({ customer, expand: ["data.payments"] });
  };
  await recordAll();
  await harness.advanceTo(new Date("2026-06-17T00:00:00Z"));
  await recordAll();
  const [paid] = (await stripe.charges.list({ customer })).data.filter((charge) => charge.paid);
  await stripe.refunds.create({ charge: String(paid?.id), amount: 100 });
  await harness.advanceTo(new Date("2026-07-25T00:00:00Z"));
  await stripe.refunds.list({ charge: String(paid?.id) });
  await stripe.balanceTransactions.list({ limit: 100 });
  await recordAll();
}

/** Stripe Tax, from the account's settings to a renewal without a location. */
async function payTaxes(harness: Harness): Promise<void> {
  const { stripe } = harness;
  await switchTaxOn(stripe);
  await stripe.tax.settings.retrieve();
  const [registration] = (await stripe.tax.registrations.list()).data;
  await stripe.tax.registrations.update(String(registration?.id), { expires_at: "" });
  const recurring = { interval: "month" } as const;
  const data = { currency: "usd", unit_amount: 1999, recurring, product_data: { name: "Taxed" }, tax_behavior: "inclusive" } as const;
  const price = await stripe.prices.create(data);
  const customer = (await stripe.customers.create({ email: "tax@example.com" })).id;
  const taxed = { customer, automatic_tax: { enabled: true }, customer_update: { address: "auto", name: "auto" } } as const;
  const session = await createSession(harness, price.id, { ...taxed, tax_id_collection: { enabled: true } });
  await payFrom(harness, session.id, "FR", { tax_id: "FR40303265045", business_name: "Exemple SARL" });
  await stripe.customers.listTaxIds(customer);
  const { id: second } = await stripe.customers.createTaxId(customer, { type: "gb_vat", value: "GB123456789" });
  await stripe.taxIds.del(second);
  const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ["line_items", "customer.tax", "invoice"] });
  await creditRefund(stripe, (paid.invoice as Stripe.Invoice).id);
  await stripe.subscriptionSchedules.create({ from_subscription: String(paid.subscription) });
  await stripe.taxRates.list();
  await stripe.customers.update(customer, { address: "" });
  await harness.advanceTo(new Date("2026-06-10T00:00:00Z"));
  await stripe.subscriptions.cancel(String(paid.subscription));
}

/** Uses everything the sandbox can do. */
async function runEverything(harness: Harness): Promise<void> {
  const { stripe } = harness;
  const coupon = await stripe.coupons.create({ percent_off: 20, duration: "repeating", duration_in_months: 3, name: "Welcome" });
  const { session, subscription, customer } = await subscribe(harness, {
    discounts: [{ coupon: coupon.id }],
    client_reference_id: "u1",
    metadata: { a: "b" },
  });
  await failAndRecover(harness, customer, subscription.id);
  const pack = await stripe.checkout.sessions.create({
    mode: "payment",
    customer,
    line_items: [{ price_data: { currency: "usd", unit_amount: 799, product_data: { name: "100 credits" } }, quantity: 1 }],
    invoice_creation: { enabled: true },
    success_url: "http://127.0.0.1:3000/",
  });
  await pay(harness, pack.id, "declined");
  await pay(harness, pack.id, "authentication");
  const price = await createPlan(stripe, "Starter", 1999);
  const abandoned = await createSession(harness, price.id);
  await pay(harness, abandoned.id, "authentication", false);
  await harness.advanceTo(new Date("2026-03-02T00:00:00Z"));
  await changePlan(harness, subscription.id);
  await disputeAndRefund(harness);
  await askAtRenewal(harness);
  await payByTransfer(harness);
  await payTaxes(harness);
  await payByDebit(harness);
  const portal = await stripe.billingPortal.configurations.create({ features: { invoice_history: { enabled: true } } });
  await stripe.billingPortal.configurations.update(portal.id, { name: "Ours" });
  await stripe.billingPortal.configurations.list();
  await stripe.billingPortal.sessions.create({ customer, configuration: portal.id });
  const endpoint = await stripe.webhookEndpoints.create({ url: harness.address, enabled_events: ["invoice.paid"] });
  await stripe.webhookEndpoints.update(endpoint.id, { disabled: true });
  await stripe.webhookEndpoints.list();
  await stripe.webhookEndpoints.del(endpoint.id);
  const intent = await stripe.paymentIntents.create({ amount: 500, currency: "usd", customer });
  await stripe.paymentIntents.confirm(intent.id, { payment_method: "pm_card_visa" });
  await lists(stripe, String(subscription.latest_invoice), session.id, customer);
  await stripe.subscriptions.cancel(subscription.id);
  await stripe.coupons.del(coupon.id);
  await stripe.customers.del(customer);
  await stripe.customers.retrieve(customer);
}

test("all responses and events of a run match the stripe package's types", { timeout: 120_000 }, async () => {
  const recording = new Recording();
  const receiver = new Receiver();
  const harness = await startSandbox({
    webhookPort: await receiver.listen(),
    onResponse: (_method, url, body) => url.startsWith("/v1/") && recording.add(body),
  });
  try {
    await runEverything(harness);
    await until(() => harness.sandbox.pendingDeliveries() === 0, "all webhooks delivered");
  } finally {
    await harness.close();
    await receiver.close();
  }
  for (const item of receiver.received) recording.add(item.body);
  const kinds = [...recording.kinds].filter((kind) => !kind.startsWith("event "));
  expect(kinds).toHaveLength(25);
  expect(recording.kinds.size - kinds.length).toBeGreaterThan(35);
  for (const type of [
    "charge.dispute.updated",
    "charge.pending",
    "checkout.session.async_payment_failed",
    "checkout.session.async_payment_succeeded",
    "customer.discount.created",
    "customer.discount.deleted",
    "invoice.payment_action_required",
    "invoice.upcoming",
    "invoice.updated",
    "payment_intent.processing",
    "payment_method.detached",
    "subscription_schedule.completed",
  ])
    expect(recording.kinds).toContain(`event ${type}`);
  expect(await typeErrors(recording.source())).toEqual([]);
});

test("the check finds a missing field, a wrong type, an unknown field, an unknown value and a wrong object in an event", {
  timeout: 60_000,
}, async () => {
  const valid = {
    id: "cus_1",
    object: "customer",
    balance: 0,
    created: 1,
    default_source: null,
    description: null,
    email: null,
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: {},
    shipping: null,
  };
  const { email: _email, ...missing } = valid;
  const recording = new Recording();
  const event = {
    id: "evt_1",
    object: "event",
    api_version: null,
    created: 1,
    data: { object: valid },
    livemode: false,
    pending_webhooks: 0,
    request: null,
    type: "invoice.paid",
  };
  for (const object of [valid, missing, { ...valid, balance: "0" }, { ...valid, colour: "red" }, { ...valid, tax_exempt: "never" }, event])
    recording.add(JSON.stringify(object));
  expect(await typeErrors(recording.source())).toHaveLength(5);
});
