import { bankAccountFields, cards, digitsOf, tile } from "./checkout-page.ts";
import type { Context } from "./context.ts";
import { savedCardOf, waitingIntentOf } from "./hosted-invoice.ts";
import type { Markup } from "./html.ts";
import { day, html, money, page } from "./html.ts";
import { debitOf } from "./invoice-collect.ts";
import type { Invoice, PaymentIntent, PaymentMethod } from "./wire.ts";

export const stateNames: Readonly<Record<string, string>> = {
  draft: "Draft",
  open: "Open",
  paid: "Paid",
  void: "Void",
  uncollectible: "Uncollectible",
};

/** Why the last payment did not go through, by the name that its redirect carries. */
const notices: Readonly<Record<string, string>> = {
  declined: "Your card was declined. Nothing was charged. Choose another card and try again.",
  refused: "We could not authenticate your card. Nothing was charged. Choose another card, or try again.",
};

function payForm(invoice: Invoice, saved: PaymentMethod | undefined): Markup {
  const tiles = cards.map((card) => tile(card, !saved && card.value === "success"));
  const kept = saved && {
    value: "saved",
    ...(saved.us_bank_account
      ? {
          name: "Your bank account",
          number: `•••• ${saved.us_bank_account.last4 ?? ""}`,
          text: "The account that renewals are debited from.",
        }
      : { name: "Your card", number: `•••• ${saved.card?.last4 ?? ""}`, text: "The card that renewals are charged to." }),
  };
  const own = kept ? [tile(kept, true)] : [];
  return html`<form method="post" action="/i/${invoice.id}/pay">
<fieldset><legend>This card</legend>${own}${tiles}</fieldset>
${bankAccountFields(invoice.currency)}
<button type="submit">Pay ${money(invoice.amount_remaining, invoice.currency)}</button>
</form>`;
}

function question(action: string, amount: string, digits: string): Markup {
  return html`<form method="post" action="${action}">
<h2>Your bank asks: is this you?</h2>
<p>A payment of <strong>${amount}</strong> to Tessera with the card ending in ${digits}.</p>
<button type="submit" name="step" value="approve">Yes, authenticate</button>
<button type="submit" name="step" value="refuse" class="second">No, fail authentication</button>
</form>`;
}

/** A real account shows the operator's own bank here, as the invoice's footer. */
function transferDetails(invoice: Invoice): Markup {
  return html`<h2>Pay by bank transfer</h2>
<dl><div class="row"><dt>Account holder</dt><dd>Tessera (sandbox)</dd></div>
<div class="row"><dt>IBAN</dt><dd>DE00 0000 0000 0000 0000 00</dd></div>
<div class="row"><dt>Reference</dt><dd>${invoice.number ?? ""}</dd></div>
<div class="row"><dt>Due</dt><dd>${day(invoice.due_date ?? invoice.created)}</dd></div></dl>
<p class="note">No money can be sent to this account. An admin records the transfer.</p>`;
}

function nextStep(context: Context, invoice: Invoice): Markup | null {
  if (invoice.status === "paid") return html`<p class="note">This invoice is paid. There is nothing left to do here.</p>`;
  if (invoice.status === "void") return html`<p class="note">This invoice was taken back. Nothing is owed.</p>`;
  if (invoice.status === "draft") return html`<p class="note">This invoice is not final yet.</p>`;
  if (debitOf(context, invoice))
    return html`<p class="note">A bank account is debited for this invoice. The bank answers within four business days.</p>`;
  const waiting = waitingIntentOf(context, invoice);
  if (waiting)
    return question(`/i/${invoice.id}/authenticate`, money(invoice.amount_remaining, invoice.currency), digitsOf(context, waiting));
  if (invoice.collection_method === "send_invoice") return transferDetails(invoice);
  return payForm(invoice, savedCardOf(context, invoice));
}

/** Whom a business's invoice is made out to, and who owes the tax of a sale to another member state. */
export function taxIdTexts({ customer_name: name, customer_tax_ids: ids, total_taxes: taxes }: Invoice): string[] {
  const [id] = ids ?? [];
  const reversed = (taxes ?? []).some(({ taxability_reason: reason }) => reason === "reverse_charge");
  return [...(id ? [`${name ?? ""}, VAT number ${id.value ?? ""}`] : []), ...(reversed ? ["Tax to be paid on reverse charge basis"] : [])];
}

function taxIdNote(invoice: Invoice): Markup | null {
  const texts = taxIdTexts(invoice);
  return texts.length === 0 ? null : html`<p class="note">${texts.join(". ")}.</p>`;
}

/** The page at an invoice's `hosted_invoice_url`. */
export function invoicePage(context: Context, invoice: Invoice, notice: string | undefined): string {
  const line = invoice.lines.data[0];
  const off = (invoice.total_discount_amounts ?? []).reduce((sum, discount) => sum + discount.amount, 0);
  const tax = invoice.automatic_tax.status === "complete" ? (invoice.total_taxes ?? []).reduce((sum, { amount }) => sum + amount, 0) : null;
  const covers = line ? `${day(line.period.start)} to ${day(line.period.end)}` : "";
  const problem = notice === undefined || invoice.status === "paid" ? undefined : notices[notice];
  const body = html`<section class="panel narrow">
<h1>Invoice ${invoice.number ?? ""}</h1>
<p class="figure">${money(invoice.total, invoice.currency)} <span class="state ${invoice.status === "paid" ? "good" : "warn"}">${stateNames[String(invoice.status)] ?? ""}</span></p>
<dl><div class="row"><dt>${line?.description ?? ""}<small>${covers}</small></dt><dd>${money(invoice.subtotal, invoice.currency)}</dd></div>
${off === 0 ? null : html`<div class="row good"><dt>Discount</dt><dd>−${money(off, invoice.currency)}</dd></div>`}
${tax === null ? null : html`<div class="row"><dt>Tax<small>included</small></dt><dd>${money(tax, invoice.currency)}</dd></div>`}
<div class="row sum"><dt>Total</dt><dd>${money(invoice.total, invoice.currency)}</dd></div></dl>
${invoice.customer_email === null ? null : html`<p class="note">Billed to ${invoice.customer_email} on ${day(invoice.created)}.</p>`}
${taxIdNote(invoice)}
${problem === undefined ? null : html`<p class="error" role="alert">${problem}</p>`}
${nextStep(context, invoice)}
</section>`;
  return page(`Invoice ${invoice.number ?? ""} · Tessera sandbox`, body);
}

/** The bank's page for an intent that the API confirmed. */
export function authenticationPage(context: Context, intent: PaymentIntent): string {
  const form = question(`/authenticate/${intent.id}`, money(intent.amount, intent.currency), digitsOf(context, intent));
  return page("Authenticate · Tessera sandbox", html`<section class="panel narrow">${form}</section>`);
}

export function answeredPage(approved: boolean): string {
  const text = approved ? "The payment has gone through." : "Nothing was charged.";
  return page("Authenticate · Tessera sandbox", html`<section class="panel narrow"><h1>Answered</h1><p>${text}</p></section>`);
}
