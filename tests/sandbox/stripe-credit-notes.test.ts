/** Credit notes as the sandbox plays them: of paid invoices, for refunds that are linked and for money that went back outside of Stripe. */
import type Stripe from "stripe";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Harness } from "./stripe/harness.ts";
import { createSession, payFrom, refusal, startSandbox, switchTaxOn } from "./stripe/harness.ts";

let harness: Harness;
let stripe: Stripe;
beforeAll(async () => {
  harness = await startSandbox({ webhookPort: 1 });
  stripe = harness.stripe;
  await switchTaxOn(stripe);
});
afterAll(() => harness.close());

/** A paid invoice over 19.99 with 3.19 of German tax, and a refund of a part of it. */
async function refunded(cents: number): Promise<{ invoice: Stripe.Invoice; refund: string }> {
  const recurring = { interval: "month" } as const;
  const data = { currency: "usd", unit_amount: 1999, recurring, product_data: { name: "Starter" }, tax_behavior: "inclusive" } as const;
  const session = await createSession(harness, (await stripe.prices.create(data)).id, { automatic_tax: { enabled: true } });
  await payFrom(harness, session.id, "DE");
  const { invoice } = await stripe.checkout.sessions.retrieve(session.id, { expand: ["invoice"] });
  const { id } = invoice as Stripe.Invoice;
  const { data: payments } = await stripe.invoicePayments.list({ invoice: id });
  const refund = await stripe.refunds.create({ payment_intent: String(payments[0]?.payment.payment_intent), amount: cents });
  return { invoice: invoice as Stripe.Invoice, refund: refund.id };
}

const create = (invoice: string, note: Omit<Stripe.CreditNoteCreateParams, "invoice">) =>
  stripe.creditNotes.create({ invoice, email_type: "none", ...note });

test("one for a refund names it, takes its share of the tax off, and is a file; the invoice keeps its total and says how much is credited", async () => {
  const { invoice, refund } = await refunded(1000);
  const note = await create(invoice.id, { amount: 1000, refunds: [{ refund }] });
  expect(note).toMatchObject({
    ...{
      amount: 1000,
      number: `${invoice.number}-CN-01`,
      refunds: [{ refund, amount_refunded: 1000 }],
      status: "issued",
      type: "post_payment",
    },
    ...{ total: 1000, total_excluding_tax: 840, total_taxes: [{ amount: 160 }], out_of_band_amount: null },
  });
  expect(await stripe.invoices.retrieve(invoice.id)).toMatchObject({
    total: 1999,
    amount_paid: 1999,
    post_payment_credit_notes_amount: 1000,
  });
  const file = await fetch(note.pdf);
  expect([file.headers.get("content-type"), (await file.text()).slice(0, 5)]).toEqual(["application/pdf", "%PDF-"]);
  await create(invoice.id, { amount: 999, out_of_band_amount: 999 });
  expect((await stripe.creditNotes.list({ invoice: invoice.id })).data.map(({ amount }) => amount)).toEqual([999, 1000]);
});

test("what Stripe refuses, and what the sandbox does not play", async () => {
  const [{ invoice, refund }, other] = [await refunded(1000), await refunded(1000)];
  await create(invoice.id, { amount: 600, refunds: [{ refund, amount_refunded: 600 }] });
  const refused: [string | undefined, Omit<Stripe.CreditNoteCreateParams, "invoice">][] = [
    ["refunds[0][refund]", { amount: 1000, refunds: [{ refund: other.refund }] }],
    ["refunds[0][refund]", { amount: 500, refunds: [{ refund, amount_refunded: 500 }] }],
    [undefined, { amount: 500, out_of_band_amount: 400 }],
    ["amount", { amount: 1400, out_of_band_amount: 1400 }],
    ["amount", { out_of_band_amount: 100 }],
    ["refund_amount", { amount: 100, refund_amount: 100 }],
    ["email_type", { amount: 100, out_of_band_amount: 100, email_type: "credit_note" }],
  ];
  for (const [param, note] of refused)
    expect(await refusal(create(invoice.id, note))).toMatchObject({ statusCode: 400, ...(param && { param }) });
  expect((await stripe.creditNotes.list({ invoice: invoice.id })).data).toHaveLength(1);
});
