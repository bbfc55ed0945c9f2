/** The PDF at an invoice's `invoice_pdf`: a file that readers open, with what the invoice says. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { invoicePdf } from "#sandbox/stripe/invoice-pdf.ts";
import type { Invoice } from "#sandbox/stripe/wire.ts";
import type { Harness } from "./stripe/harness.ts";
import { Receiver, startSandbox, subscribe } from "./stripe/harness.ts";

let harness: Harness;
const receiver = new Receiver();
beforeAll(async () => {
  harness = await startSandbox({ webhookPort: await receiver.listen() });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

/** The texts of the page, as a reader shows them. */
function textsOf(pdf: string): string[] {
  return [...pdf.matchAll(/<([0-9a-f]*)> Tj/g)].map(([, hex = ""]) => Buffer.from(hex, "hex").toString("latin1"));
}

async function invoiceOf(): Promise<Invoice> {
  const { subscription } = await subscribe(harness);
  const [invoice] = (await harness.stripe.invoices.list({ subscription: subscription.id })).data;
  return invoice as unknown as Invoice;
}

test("every object is where the file's table says, and the page has number, dates, lines and sums", async () => {
  const invoice = await invoiceOf();
  const response = await fetch(String(invoice.invoice_pdf));
  expect(response.headers.get("content-type")).toBe("application/pdf");
  expect(response.headers.get("content-disposition")).toBe(`attachment; filename="Invoice-${invoice.number}.pdf"`);
  const pdf = Buffer.from(await response.arrayBuffer()).toString("latin1");
  const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(pdf)?.[1]);
  expect(pdf.slice(table, table + 5)).toBe("xref\n");
  const places = [...pdf.slice(table).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, at]) => Number(at));
  expect(places.map((at, index) => pdf.startsWith(`${index + 1} 0 obj\n`, at))).toEqual(places.map(() => true));
  const stream = /<< \/Length (\d+) >>\nstream\n([\s\S]*?)\nendstream/.exec(pdf);
  expect(Number(stream?.[1])).toBe(stream?.[2]?.length);
  const texts = textsOf(pdf);
  for (const text of [invoice.number, "Paid", "Subtotal", "Total", "$19.99", "Amount due", "$0.00"]) expect(texts).toContain(text);
  expect(texts.join(" ")).toContain("Starter");
  expect(texts).not.toContain("Tax");
});

test("a tax has a line, a discount too, and what Helvetica lacks is no broken file", async () => {
  const invoice = await invoiceOf();
  const taxed = {
    ...invoice,
    customer_email: "ада@example.com",
    total_taxes: [{ amount: 380 } as never],
    total_discount_amounts: [{ amount: 200, discount: "di_1" }],
    total: 2_179,
  };
  const texts = textsOf(invoicePdf(taxed).toString("latin1"));
  expect(texts).toContain("???@example.com");
  expect([texts[texts.indexOf("Tax") + 1], texts[texts.indexOf("Discount") + 1]]).toEqual(["$3.80", "-$2.00"]);
  expect(texts[texts.indexOf("Total") + 1]).toBe("$21.79");
});
