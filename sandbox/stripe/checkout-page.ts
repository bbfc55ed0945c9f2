import { addressFields, taxIdFields } from "./address-fields.ts";
import { awaitingAuthentication, successAddress } from "./checkout-complete.ts";
import type { Context } from "./context.ts";
import type { Markup } from "./html.ts";
import { day, html, money, page } from "./html.ts";
import { methodTypesFor } from "./payment-methods.ts";
import { nextBoundary } from "./periods.ts";
import type { CheckoutSession, Coupon, LineItem, PaymentIntent, Price } from "./wire.ts";

function every(price: Price | null): string {
  const recurring = price?.recurring;
  if (!recurring) return "";
  return recurring.interval_count === 1 ? `a ${recurring.interval}` : `every ${recurring.interval_count} ${recurring.interval}s`;
}

function lineRow(item: LineItem): Markup {
  const unit = money(item.price?.unit_amount ?? 0, item.currency);
  const detail = item.price?.recurring ? `${unit} ${every(item.price)}` : `${unit} once`;
  const quantity = (item.quantity ?? 1) > 1 ? ` × ${item.quantity}` : "";
  return html`<div class="row"><dt>${item.description ?? "Item"}${quantity}<small>${detail}</small></dt><dd>${money(item.amount_subtotal, item.currency)}</dd></div>`;
}

function discountRow(session: CheckoutSession, coupon: Coupon | undefined): Markup | null {
  const off = session.total_details?.amount_discount ?? 0;
  if (off === 0 || !coupon) return null;
  const size = coupon.percent_off === null ? "" : `${coupon.percent_off}% off`;
  const span =
    coupon.duration === "once"
      ? "first period only"
      : coupon.duration === "forever"
        ? "every period"
        : `for ${coupon.duration_in_months} months`;
  const scope = session.mode === "subscription" ? [size, span].filter((part) => part !== "").join(", ") : size;
  return html`<div class="row good"><dt>${coupon.name ?? "Discount"}<small>${scope}</small></dt><dd>−${money(off, session.currency ?? "usd")}</dd></div>`;
}

/** The tax within the total: once somebody has said where they live. */
function taxRow(session: CheckoutSession): Markup | null {
  if (session.automatic_tax.status !== "complete") return null;
  return html`<div class="row"><dt>Tax<small>included</small></dt><dd>${money(session.total_details?.amount_tax ?? 0, session.currency ?? "usd")}</dd></div>`;
}

/** One sentence about what the person will pay after today. */
function renewalNote(context: Context, session: CheckoutSession, item: LineItem | undefined): Markup | null {
  if (session.mode !== "subscription" || !item) return null;
  const price = money(item.amount_subtotal, item.currency);
  const renewsAt = item.price ? nextBoundary(context.now(), item.price, context.now()) : context.now();
  return html`<p class="note">Then ${price} ${every(item.price)} from ${day(renewsAt)}, until you cancel.</p>`;
}

function summary(context: Context, session: CheckoutSession): Markup {
  const hidden = context.store.hidden("checkout.session", session.id);
  const coupon = hidden.coupon === null ? undefined : context.store.find("coupon", hidden.coupon);
  const total = money(session.amount_total ?? 0, session.currency ?? "usd");
  const first = hidden.items[0];
  const title = session.mode === "subscription" ? `Subscribe to ${first?.description ?? "the plan"}` : (first?.description ?? "Your order");
  return html`<section class="summary" aria-labelledby="order">
<h1 id="order">${title}</h1>
<p class="total">${total}<span>due today</span></p>
<dl>${hidden.items.map(lineRow)}${discountRow(session, coupon)}${taxRow(session)}<div class="row sum"><dt>Total today</dt><dd>${total}</dd></div></dl>
${renewalNote(context, session, first)}
</section>`;
}

export const cards = [
  { value: "success", name: "Pays", number: "•••• 4242", text: "The payment goes through." },
  { value: "declined", name: "Is declined", number: "•••• 0002", text: "The bank says no. Nothing is charged." },
  { value: "authentication", name: "Asks you once", number: "•••• 3155", text: "The bank wants your word now, and pays renewals." },
  {
    value: "always_authentication",
    name: "Asks every time",
    number: "•••• 3184",
    text: "The bank wants your word now, and at each renewal.",
  },
] as const;

/** US bank accounts, whose bank answers days later. */
const bankAccounts = [
  { value: "bank_debit", name: "Pays later", number: "•••• 6789", text: "The money comes after four business days." },
  { value: "bank_debit_fails", name: "Fails later", number: "•••• 2227", text: "After four business days the bank says no." },
] as const;

interface Tile {
  value: string;
  name: string;
  number: string;
  text: string;
}

export function tile({ value, name, number, text }: Tile, chosen: boolean): Markup {
  return html`<label class="card"><input type="radio" name="card" value="${value}"${chosen ? html` checked` : null}><span class="name">${name}</span><span class="number">${number}</span><span class="text">${text}</span></label>`;
}

/** The bank accounts that can pay in this currency, as the second method of a form. */
export function bankAccountFields(currency: string): Markup | null {
  if (!methodTypesFor(currency).includes("us_bank_account")) return null;
  return html`<fieldset><legend>Or this US bank account</legend>${bankAccounts.map((account) => tile(account, false))}</fieldset>`;
}

function cancelLink(session: CheckoutSession): Markup | null {
  return session.cancel_url === null ? null : html`<a class="quiet" href="${session.cancel_url}">Cancel and go back</a>`;
}

function message(text: { message: string } | null | undefined): Markup | null {
  return text ? html`<p class="note">${text.message}</p>` : null;
}

/** What is missing on the page, by its name in the redirect's query. */
export type Lacking = "address" | "tax_id";

const lackingTexts: Readonly<Record<Lacking, string>> = {
  address:
    "Choose your country, and give the postal code in Canada and the United States, so that the tax can be worked out. Nothing was charged.",
  tax_id:
    "This is not a VAT number of this country, or the name of the business is missing. Correct both, or leave both empty. Nothing was charged.",
};

function payForm(session: CheckoutSession, failure: string | null, lacking: Lacking | undefined): Markup {
  const total = money(session.amount_total ?? 0, session.currency ?? "usd");
  const label = session.mode === "subscription" ? `Subscribe for ${total}` : `Pay ${total}`;
  const error = lacking
    ? html`<p class="error" role="alert">${lackingTexts[lacking]}</p>`
    : failure === null
      ? null
      : html`<p class="error" role="alert"><strong>Payment failed.</strong> ${failure} Choose another card to go on.</p>`;
  const tiles = cards.map((card, index) => tile(card, index === 0));
  return html`<form class="panel" method="post" action="/checkout/${session.id}/pay">
<h2>Pay with a test card</h2>
${session.customer_details?.email ? html`<p class="email"><span>Email</span>${session.customer_details.email}</p>` : null}
${error}
<input type="hidden" name="from" value="page">
<fieldset><legend>This card</legend>${tiles}</fieldset>
${bankAccountFields(session.currency ?? "usd")}
${session.automatic_tax.enabled ? addressFields(session.customer_details?.address) : null}
${session.tax_id_collection?.enabled ? taxIdFields({ name: "", value: "" }) : null}
${message(session.custom_text?.submit)}
<button type="submit">${label}</button>
${message(session.custom_text?.after_submit)}
${cancelLink(session)}
</form>`;
}

function authenticationForm(session: CheckoutSession, digits: string): Markup {
  return html`<form class="panel" method="post" action="/checkout/${session.id}/pay">
<h2>Your bank asks: is this you?</h2>
<p>A payment of <strong>${money(session.amount_total ?? 0, session.currency ?? "usd")}</strong> to Tessera with the card ending in ${digits}.</p>
<input type="hidden" name="from" value="page">
<button type="submit" name="step" value="approve">Yes, authenticate</button>
<button type="submit" name="step" value="refuse" class="second">No, fail authentication</button>
${cancelLink(session)}
</form>`;
}

/** The last four digits of the card that an intent waits with. */
export function digitsOf(context: Context, intent: PaymentIntent): string {
  return context.store.get("payment_method", String(intent.payment_method)).card?.last4 ?? "";
}

function ended(session: CheckoutSession): Markup {
  if (session.status === "complete" && session.payment_status === "unpaid") {
    return html`<section class="panel"><h2>Your bank account is debited</h2><p>The bank answers within four business days.</p><a class="button" href="${successAddress(session)}">Back to Tessera</a></section>`;
  }
  if (session.status === "complete") {
    return html`<section class="panel"><h2>This is paid</h2><p>There is nothing left to do here.</p><a class="button" href="${successAddress(session)}">Back to Tessera</a></section>`;
  }
  const back = session.cancel_url === null ? null : html`<a class="button" href="${session.cancel_url}">Back to Tessera</a>`;
  return html`<section class="panel"><h2>This page has expired</h2><p>Nothing was charged. Start again from the plans.</p>${back}</section>`;
}

/** The page at the session's `url`. `lacking`: the field that was missing or wrong in the last submission. */
export function checkoutPage(context: Context, session: CheckoutSession, lacking?: Lacking): string {
  const failure = context.store.hidden("checkout.session", session.id).failure;
  const open = session.status === "open";
  const asking = open ? awaitingAuthentication(context, session.id) : undefined;
  const panel = asking
    ? authenticationForm(session, digitsOf(context, asking))
    : open
      ? payForm(session, failure, lacking)
      : ended(session);
  return page("Checkout · Tessera sandbox", html`<div class="columns">${summary(context, session)}${panel}</div>`);
}
