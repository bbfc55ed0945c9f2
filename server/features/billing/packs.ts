/** Credit packs: paid once, in a checkout of their own, by people who have a plan. */
import type Stripe from "stripe";
import { addMonths } from "#domain/clock.ts";
import type { Pack } from "#domain/plans.ts";
import { packMonths } from "#domain/plans.ts";
import type { Consent } from "../../contract/billing/orders.ts";
import type { Trx } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { fromUnix, idOf, orUnavailable } from "../../providers/stripe.ts";
import { postGrant } from "../credits/service.ts";
import { takeReturnedOfPosted } from "./charge-returns.ts";
import { withCustomer } from "./customers.ts";
import { insertPaidInvoice } from "./grant-invoice.ts";
import { mailPackBought } from "./mails.ts";
import { openSession } from "./open-session.ts";
import { agree, concludeOrder, offerTo } from "./orders.ts";
import * as queries from "./queries.ts";
import { stripePriceOf } from "./stripe-catalogue.ts";
import { checkoutTax } from "./stripe-tax.ts";

/**
 * A checkout for a pack. Throws `unknown_price`, `subscription_required` unless the plan is paid, `consent_required`, `preview_outdated` and
 * `payment_provider_unavailable`.
 */
export async function createPackCheckout(
  deps: Deps,
  userId: string,
  { pack, consent }: { pack: string; consent?: Consent },
): Promise<{ url: string }> {
  const offer = await offerTo(deps, userId, pack, "pack");
  const agreement = agree(offer, consent);
  return orUnavailable(deps.log, async () => {
    const line = { price: await stripePriceOf(deps, offer.sold.id), quantity: 1 };
    const parameters = (metadata: Record<string, string>): Stripe.Checkout.SessionCreateParams => ({
      mode: "payment",

      line_items: [line],
      metadata,
      ...checkoutTax(deps.config.stripe),
      payment_intent_data: { metadata },
      invoice_creation: { enabled: true, invoice_data: { metadata } },
    });
    return withCustomer(deps, userId, (buyer) => openSession(deps, buyer, { agreement, parameters }));
  });
}

/** A session that was read with its invoice and its payment. */
export type PaidSession = Pick<Stripe.Checkout.Session, "id" | "created" | "amount_total" | "invoice" | "metadata" | "payment_intent">;

/** Posts a paid pack's credits and records its invoice, once however often it is called. Returns whether the credits are new. */
export async function grantPack(trx: Trx, payerId: string, pack: Pack, session: PaidSession, now: Date): Promise<boolean> {
  const invoice = typeof session.invoice === "object" ? session.invoice : null;
  const intent = typeof session.payment_intent === "object" ? session.payment_intent : null;
  await queries.lockSubject(trx, `billing:${payerId}`);
  if (invoice && !(await queries.selectRecordedInvoices(trx, [invoice.id])).has(invoice.id))
    await insertPaidInvoice(trx, payerId, invoice, now);
  const paidAt = invoice?.status_transitions.paid_at ?? session.created;
  const expiresAt = addMonths(fromUnix(paidAt), packMonths);
  const source = { invoiceId: invoice?.id ?? null, chargeId: idOf(intent?.latest_charge) ?? null, packKey: pack.key };
  const key = `pack:${session.id}`;
  const { posted } = await postGrant(trx, { payerId, kind: "pack", credits: pack.credits, expiresAt, key, source }, now);
  if (!posted) return false;
  await takeReturnedOfPosted(trx, source.chargeId, now);
  const order = await concludeOrder(trx, session.metadata?.checkout_id, key, now);
  const bought = {
    sessionId: session.id,
    pack,
    amountCents: session.amount_total ?? pack.priceCents,
    paidAt: fromUnix(paidAt),
    expiresAt,
    order,
    invoice,
  };
  await mailPackBought(trx, payerId, bought, now);
  return true;
}
