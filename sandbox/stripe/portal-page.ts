import { addressFields, taxIdFields } from "./address-fields.ts";
import type { Context } from "./context.ts";
import type { Markup } from "./html.ts";
import { day, html, money, page } from "./html.ts";
import { stateNames } from "./invoice-page.ts";
import type { CardBehaviour } from "./kinds.ts";
import { nameOf } from "./payment-methods.ts";
import type { PortalView } from "./portal.ts";
import { portalView } from "./portal.ts";
import { itemOf } from "./subscription-status.ts";
import type { Invoice, Subscription } from "./wire.ts";

function action(sessionId: string, name: string, target: string | null, label: string, kind: "second" | "" = ""): Markup {
  return html`<form method="post" action="/p/session/${sessionId}/${name}">${target === null ? null : html`<input type="hidden" name="target" value="${target}">`}<button type="submit" class="${kind}">${label}</button></form>`;
}

function nextStep(context: Context, subscription: Subscription): Markup {
  const item = itemOf(subscription);
  const end = day(item.current_period_end);
  if (subscription.cancel_at !== null) return html`<p class="warn">Ends on ${day(subscription.cancel_at)}. Nothing more is charged.</p>`;
  if (subscription.status === "past_due")
    return html`<p class="warn">The last payment failed. Change the card or pay the open invoice below.</p>`;
  const schedule =
    typeof subscription.schedule === "string" ? context.store.find("subscription_schedule", subscription.schedule) : undefined;
  const next = schedule?.phases.find((phase) => phase.start_date === schedule.current_phase?.end_date)?.items[0];
  const price = next ? context.store.find("price", String(next.price)) : undefined;
  const product = price ? context.store.find("product", String(price.product)) : undefined;
  if (price && product && price.id !== item.price.id) {
    const costs = `${money(price.unit_amount ?? 0, price.currency)} a ${price.recurring?.interval ?? "period"}`;
    if (product.id === item.price.product) return html`<p>From ${end} on ${costs}.</p>`;
    return html`<p>Changes to ${product.name} on ${end}, then ${costs}.</p>`;
  }
  return html`<p>Renews on ${end} for ${money((item.price.unit_amount ?? 0) * (item.quantity ?? 1), item.price.currency)}.</p>`;
}

function subscriptionPanel(context: Context, view: PortalView, subscription: Subscription): Markup {
  const item = itemOf(subscription);
  const product = context.store.find("product", String(item.price.product));
  const state = subscription.status === "past_due" ? "Payment due" : subscription.cancel_at === null ? "Active" : "Ending";
  return html`<section class="panel">
<h2>${product?.name ?? "Subscription"} <span class="state ${subscription.status === "active" && subscription.cancel_at === null ? "good" : "warn"}">${state}</span></h2>
<p class="figure">${money(item.price.unit_amount ?? 0, item.price.currency)}<span>a ${item.price.recurring?.interval ?? "period"}</span></p>
${nextStep(context, subscription)}
${subscription.cancel_at === null ? action(view.session.id, "cancel", subscription.id, "Cancel at period end", "second") : action(view.session.id, "resume", subscription.id, "Keep the subscription")}
</section>`;
}

const effects: Partial<Record<CardBehaviour, string>> = {
  declined: "Renewals will be declined.",
  always_authentication: "The bank will ask you at each renewal. Pay the invoice on its page then.",
  bank_debit_fails: "Debits of renewals will fail.",
  bank_debit_voids: "Debits of renewals will fail.",
};

function cardPanel(view: PortalView): Markup {
  const current = view.card ? nameOf(view.card) : "No card on file";
  const effect = view.cardBehaviour === null ? "Renewals will fail." : (effects[view.cardBehaviour] ?? "Renewals go through.");
  const pays = view.cardBehaviour !== null && effects[view.cardBehaviour] === undefined;
  return html`<section class="panel">
<h2>Card</h2>
<p class="figure small">${current}</p>
<p class="${pays ? "" : "warn"}">${effect}</p>
<form method="post" action="/p/session/${view.session.id}/card">
<fieldset><legend>Use another test card</legend>
<label class="card"><input type="radio" name="card" value="success"${view.cardBehaviour !== "declined" ? html` checked` : null}><span class="name">Pays</span><span class="number">•••• 4242</span></label>
<label class="card"><input type="radio" name="card" value="declined"${view.cardBehaviour === "declined" ? html` checked` : null}><span class="name">Is declined</span><span class="number">•••• 0341</span></label>
<label class="card"><input type="radio" name="card" value="always_authentication"><span class="name">Asks every time</span><span class="number">•••• 3184</span></label>
</fieldset>
<button type="submit" class="second">Use this card</button>
</form>
</section>`;
}

function addressPanel({ session, address }: PortalView): Markup | null {
  if (address === undefined) return null;
  return html`<section class="panel">
<h2>Billing address</h2>
<form method="post" action="/p/session/${session.id}/address">${addressFields(address)}
<button type="submit" class="second">Save the address</button>
</form>
</section>`;
}

function businessPanel({ session, business }: PortalView): Markup | null {
  if (business === undefined) return null;
  return html`<section class="panel">
<h2>Business</h2>
<form method="post" action="/p/session/${session.id}/tax-id">${taxIdFields(business)}
<button type="submit" class="second">Save the VAT number</button>
</form>
</section>`;
}

function numberOf(invoice: Invoice): Markup {
  return invoice.hosted_invoice_url ? html`<a href="${invoice.hosted_invoice_url}">${invoice.number ?? ""}</a>` : html`Draft`;
}

function invoiceRow(view: PortalView, invoice: Invoice): Markup {
  const asks = view.cardBehaviour === "always_authentication";
  const pay =
    invoice.status !== "open"
      ? null
      : asks
        ? html`<a class="button second" href="${invoice.hosted_invoice_url ?? ""}">Pay now</a>`
        : action(view.session.id, "pay", invoice.id, "Pay now", "second");
  return html`<tr><td>${day(invoice.created)}</td><td>${numberOf(invoice)}</td><td class="amount">${money(invoice.total, invoice.currency)}</td><td><div class="invoice-state"><span class="state ${invoice.status === "paid" ? "good" : invoice.status === "open" ? "warn" : ""}">${stateNames[String(invoice.status)] ?? ""}</span>${pay}</div></td></tr>`;
}

/** The page at a portal session's `url`. */
export function portalPage(context: Context, sessionId: string, notice: string | null): string {
  const view = portalView(context, sessionId);
  const back =
    view.session.return_url === null ? null : html`<a class="quiet back" href="${view.session.return_url}">← Back to Tessera</a>`;
  const plans = view.subscriptions.map((subscription) => subscriptionPanel(context, view, subscription));
  const none = html`<section class="panel"><h2>No subscription</h2><p>Nothing renews and nothing is charged.</p></section>`;
  const rows = view.invoices.map((invoice) => invoiceRow(view, invoice));
  const invoices =
    rows.length === 0
      ? html`<p>No invoices yet.</p>`
      : html`<div class="scroll"><table><thead><tr><th>Date</th><th>Number</th><th class="amount">Amount</th><th>State</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  const body = html`${back}
<h1>Your billing</h1>
${view.email === null ? null : html`<p class="email">${view.email}</p>`}
${notice === null ? null : html`<p class="error" role="alert">${notice}</p>`}
<div class="tiles">${plans.length === 0 ? none : plans}${cardPanel(view)}${addressPanel(view)}${businessPanel(view)}</div>
<section class="panel wide"><h2>Invoices</h2>${invoices}</section>`;
  return page("Billing · Tessera sandbox", body);
}
