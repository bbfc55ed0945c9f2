import type { Context } from "./context.ts";
import { invalidRequest } from "./errors.ts";
import { day, html, money, page } from "./html.ts";
import { nameOf } from "./payment-methods.ts";

/** The page at a charge's `receipt_url`, as the charge is now. Throws 400 for a charge that has none: it failed, or is pending. */
export function receiptPage(context: Context, chargeId: string): string {
  const charge = context.store.get("charge", chargeId, "charge");
  if (charge.receipt_url === null) throw invalidRequest("A charge that failed or is pending has no receipt.", "charge");
  const refunded =
    charge.amount_refunded === 0
      ? null
      : html`<div class="row good"><dt>Refunded</dt><dd>−${money(charge.amount_refunded, charge.currency)}</dd></div>`;
  const body = html`<section class="panel narrow">
<h1>Receipt from Tessera</h1>
<p class="figure">${money(charge.amount, charge.currency)}</p>
<dl><div class="row"><dt>${charge.description ?? "Payment"}<small>${day(charge.created)}</small></dt><dd>${money(charge.amount, charge.currency)}</dd></div>
${refunded}
<div class="row sum"><dt>Paid with ${nameOf(context.store.get("payment_method", String(charge.payment_method)))}</dt><dd>${money(charge.amount - charge.amount_refunded, charge.currency)}</dd></div></dl>
</section>`;
  return page("Receipt · Tessera sandbox", body);
}
