import type { Context } from "./context.ts";
import { invalidRequest } from "./errors.ts";
import { day, money } from "./html.ts";
import { stateNames, taxIdTexts } from "./invoice-page.ts";
import type { PdfRule, PdfText } from "./pdf.ts";
import { toPdf } from "./pdf.ts";
import type { CreditNote, Invoice } from "./wire.ts";

const left = 56;
const right = 539;
const small = 10;

/** Lays a text on the left and an amount on the right of one line. */
function row(y: number, text: string, amount: string, bold = false): PdfText[] {
  return [
    { text, x: left, y, size: small, bold },
    { text: amount, x: right, y, size: small, bold, right: true },
  ];
}

function head(title: string, facts: readonly (readonly [name: string, value: string])[]): (PdfText | PdfRule)[] {
  return [
    { text: title, x: left, y: 72, size: 20, bold: true },
    { text: "Tessera. Made by the sandbox: no card is real, no money moves.", x: left, y: 92, size: 9 },
    ...facts.flatMap(([name, value], index): PdfText[] => [
      { text: name, x: left, y: 130 + index * 16, size: small, bold: true },
      { text: value, x: left + 110, y: 130 + index * 16, size: small },
    ]),
  ];
}

/** The sums below the lines: discounts and taxes only where there are some. */
function sums(invoice: Invoice): [name: string, cents: number][] {
  const off = (invoice.total_discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
  const tax = (invoice.total_taxes ?? []).reduce((sum, { amount }) => sum + amount, 0);
  const included = (invoice.total_taxes ?? []).every(({ tax_behavior: behaviour }) => behaviour === "inclusive");
  return [
    ["Subtotal", invoice.subtotal],
    ...(off === 0 ? [] : [["Discount", -off] as [string, number]]),
    ...(tax === 0 ? [] : [[included ? "Tax included" : "Tax", tax] as [string, number]]),
    ["Total", invoice.total],
    ["Amount paid", invoice.amount_paid],
    ["Amount due", invoice.amount_remaining],
  ];
}

interface PdfFile {
  name: string;
  content: Buffer;
}

/** The file at an invoice's `invoice_pdf`, as the invoice is now. Throws 400 for a draft. */
export function invoiceFile(context: Context, id: string): PdfFile {
  const invoice = context.store.get("invoice", id, "invoice");
  if (invoice.status === "draft") throw invalidRequest("A draft has no PDF yet.", "invoice");
  return { name: `Invoice-${invoice.number ?? invoice.id}`, content: invoicePdf(invoice) };
}

/** The file at a credit note's `pdf`. */
export function creditNoteFile(context: Context, id: string): PdfFile {
  const note = context.store.get("credit_note", id);
  return { name: `CreditNote-${note.number}`, content: creditNotePdf(note, context.store.get("invoice", String(note.invoice))) };
}

export function invoicePdf(invoice: Invoice): Buffer {
  const parts: (PdfText | PdfRule)[] = head("Invoice", [
    ["Invoice number", invoice.number ?? ""],
    ["Date of issue", day(invoice.status_transitions.finalized_at ?? invoice.created)],
    ["Billed to", invoice.customer_email ?? ""],
    ["Status", stateNames[String(invoice.status)] ?? ""],
  ]);
  let y = 222;
  parts.push({ text: "Description", x: left, y, size: small, bold: true }, { text: "Amount", x: right - 38, y, size: small, bold: true });
  parts.push({ rule: y + 8 });
  for (const line of invoice.lines.data) {
    y += 26;
    parts.push(...row(y, line.description ?? "", money(line.amount, invoice.currency)));
    parts.push({ text: `${day(line.period.start)} – ${day(line.period.end)}`, x: left, y: y + 14, size: 9 });
    y += 14;
  }
  y += 14;
  parts.push({ rule: y });
  for (const [name, cents] of sums(invoice)) {
    y += 20;
    parts.push(...row(y, name, money(cents, invoice.currency), name === "Total" || name === "Amount due"));
  }
  for (const text of taxIdTexts(invoice)) {
    y += 20;
    parts.push({ text, x: left, y, size: 9 });
  }
  return toPdf(`Invoice ${invoice.number ?? ""}`, parts);
}

function creditNotePdf(note: CreditNote, invoice: Invoice): Buffer {
  const parts = head("Credit note", [
    ["Credit note number", note.number],
    ["Date of issue", day(note.effective_at ?? note.created)],
    ["Billed to", invoice.customer_email ?? ""],
    ["Invoice number", invoice.number ?? ""],
  ]);
  const tax = (note.total_taxes ?? []).reduce((sum, { amount }) => sum + amount, 0);
  const rows: [name: string, cents: number][] = [
    ...note.lines.data.map((line): [string, number] => [line.description ?? "", line.amount]),
    ...(tax === 0 ? [] : [["Tax included", tax] as [string, number]]),
    [note.out_of_band_amount === null ? "Total refunded" : "Total paid back outside of Stripe", note.total],
  ];
  parts.push({ rule: 214 });
  for (const [index, [name, cents]] of rows.entries())
    parts.push(...row(238 + index * 20, name, money(cents, note.currency), index === rows.length - 1));
  return toPdf(`Credit note ${note.number}`, parts);
}
