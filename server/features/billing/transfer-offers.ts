/**
 * Enterprise plans by bank transfer begin with an offer of the team's, which the person orders on our page like any other plan: shown, agreed to
 * and kept (decisions 57 and 67). The order makes the subscription and its first invoice at Stripe; the rest is in transfers.ts.
 */
import type Stripe from "stripe";
import { v7 as uuidv7 } from "uuid";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { Sold } from "#domain/orders.ts";
import { plans, priceIdOf } from "#domain/plans.ts";
import type { Consent } from "../../contract/billing/orders.ts";
import type { BillTo, OfferTransfer, TransferInvoice, TransferOffer } from "../../contract/billing/transfers.ts";
import { recordAct } from "../../db/audit.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { fromUnix, idOf, isLocationKnown, isRefused, orMissing, orUnavailable } from "../../providers/stripe.ts";
import { queueMail } from "../notifications/service.ts";
import type { Clerk } from "../team/service.ts";
import { refuseSubscribed } from "./checkout.ts";
import { withCustomer } from "./customers.ts";
import { mirrorInvoice } from "./mirror-invoice.ts";
import type { Agreement } from "./orders.ts";
import { agree, insertOrder, isAgreed, noteCompleted, offerTo, previewOrder } from "./orders.ts";
import * as queries from "./queries.ts";
import { stripePriceOf } from "./stripe-catalogue.ts";
import { isTaxed, subscriptionTax } from "./stripe-tax.ts";
import { syncSubscription } from "./sync-subscription.ts";
import type { OfferRow } from "./transfer-queries.ts";
import * as transfers from "./transfer-queries.ts";
import { hasRunningPlan, refuseRunningPlan } from "./trials.ts";

/** For how long an offer can be ordered. */
const offerMs = 30 * dayMs;

type TaxId = NonNullable<BillTo["taxId"]>;

const bare = (taxId: string) => taxId.replace(/\s/g, "").toUpperCase();

/** Makes this the only tax id of the customer. Throws `conflict` if Stripe does not accept it. */
async function setTaxId({ payments }: Pick<Deps, "payments">, customer: string, { type, value }: TaxId): Promise<void> {
  const { data: known } = await payments.customers.listTaxIds(customer, { limit: 100 });
  const others = known.filter((old) => old.type !== type || bare(old.value) !== bare(value));
  if (others.length === known.length)
    await payments.customers.createTaxId(customer, { type, value: bare(value) }).catch((error: unknown) => {
      if (isRefused(error)) throw new DomainError("conflict", `Stripe does not accept this tax id: ${(error as Error).message}`);
      throw error;
    });
  for (const { id } of others) await orMissing(payments.taxIds.del(id));
}

/** Whom the invoices are made out to. Stripe keeps it; we don't. Without it what Stripe has stays. */
async function nameCustomer({ payments, config }: Deps, customer: string, billTo: BillTo | undefined): Promise<void> {
  if (billTo) {
    const { name, line1, line2 = "", postalCode, city, state = "", country, taxId } = billTo;
    await payments.customers.update(customer, { name, address: { line1, line2, postal_code: postalCode, city, state, country } });
    if (taxId) await setTaxId({ payments }, customer, taxId);
  }
  if (!isTaxed(config.stripe) || isLocationKnown(await payments.customers.retrieve(customer, { expand: ["tax"] }))) return;
  throw new DomainError("conflict", "The tax depends on where the customer is. Give `billTo` with the address of the invoice");
}

/**
 * Offers an Enterprise plan to be paid by transfer, and mails the person about it; a later offer replaces an earlier one. Throws `not_found`,
 * `already_subscribed`, `conflict` where tax needs an address or Stripe does not accept the tax id, `payment_provider_unavailable`.
 */
export async function offerTransfer(deps: Deps, clerk: Clerk, offered: OfferTransfer): Promise<{ expiresAt: string }> {
  const { email, interval, daysUntilDue, billTo, reason } = offered;
  const userId = await transfers.selectConfirmedPerson(deps.db, email);
  if (userId === undefined) throw new DomainError("not_found", "Nobody has this address");
  refuseRunningPlan(await queries.selectSubscription(deps.db, userId));
  const payerId = await orUnavailable(deps.log, () =>
    withCustomer(deps, userId, async (buyer) => {
      await refuseSubscribed(deps, buyer.customerId);
      await nameCustomer(deps, buyer.customerId, billTo);
      return buyer.payerId;
    }),
  );
  const now = deps.clock.now();
  const expiresAt = addMilliseconds(now, offerMs);
  const price_id = priceIdOf(plans.enterprise.key, interval);
  await inTransaction(deps.db, async (trx) => {
    const row = { user_id: userId, price_id, days_until_due: daysUntilDue, offered_at: now, expires_at: expiresAt, order_id: null };
    await transfers.saveOffer(trx, row);
    await recordAct(trx, {
      actor: clerk.userId,
      subject: userId,
      action: "transfer.offered",
      network: clerk.network,
      details: { interval },
      reason,
    });
    const recipient = await queries.selectRecipient(trx, payerId);
    if (!recipient) return;
    const parameters = { plan: plans.enterprise.key, interval, expiresAt: expiresAt.toISOString() };
    const to = { userId, recipient: recipient.email, language: recipient.language };
    await queueMail(trx, { ...to, key: `transfer-offer:${userId}:${now.toISOString()}`, template: "transfer-offer", parameters }, now);
  });
  await announceToMembers(deps, payerId, "user_subscriptions");
  return { expiresAt: expiresAt.toISOString() };
}

/** The person's offer with its order, as it would be billed; null if there is none, or it was ordered. */
export async function readOffer(deps: Deps, userId: string): Promise<TransferOffer | null> {
  const offer = await transfers.selectOffer(deps.db, userId, deps.clock.now());
  if (!offer || hasRunningPlan(await queries.selectSubscription(deps.db, userId)) || (await isOrdered(deps, offer))) return null;
  const order = await previewOrder(deps, userId, offer.price_id);
  return { order: { ...order, ...offeredPrice(order) }, daysUntilDue: offer.days_until_due, expiresAt: offer.expires_at.toISOString() };
}

/** The price without a campaign's discount: campaigns are for what people buy by themselves. */
function offeredPrice({ laterCents, amountCents }: { amountCents: number; laterCents: number | null }): { amountCents: number } {
  return { amountCents: laterCents ?? amountCents };
}

async function isOrdered({ db }: Pick<Deps, "db">, { order_id: orderId }: OfferRow): Promise<boolean> {
  return orderId !== null && (await transfers.selectSubscriptionOfOrder(db, orderId)) !== undefined;
}

interface KeptOrder {
  orderId: string;
  offer: OfferRow;
  amountCents: number;
}

/** Keeps the order, once however often the button is clicked; one with another price or other texts is another order. */
async function keepOrder(deps: Deps, userId: string, agreement: Agreement): Promise<KeptOrder> {
  const now = deps.clock.now();
  const { amount_cents: amountCents } = agreement;
  return inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `transfer-offer:${userId}`);
    const offer = await transfers.selectOffer(trx, userId, now);
    if (!offer) throw new DomainError("not_found", "There is no such offer any more");
    // The team has just offered something else.
    if (offer.price_id !== agreement.price_id)
      throw new DomainError("preview_outdated", "The offer was replaced. Look at it again before you order");
    if (offer.order_id !== null && (await isAgreed(trx, offer.order_id, agreement))) return { orderId: offer.order_id, offer, amountCents };
    const orderId = uuidv7();
    await insertOrder(trx, orderId, userId, agreement, now);
    await transfers.setOrderOfOffer(trx, userId, orderId);
    return { orderId, offer, amountCents };
  });
}

/** Finalises the invoice now. Stripe would do it by itself an hour later. */
async function finalInvoice({ payments }: Pick<Deps, "payments">, id: string): Promise<Stripe.Invoice> {
  const invoice = await payments.invoices.retrieve(id);
  return invoice.status === "draft" ? payments.invoices.finalizeInvoice(id, {}, { idempotencyKey: `transfer-final:${id}` }) : invoice;
}

/** The order's subscription at Stripe. The order names it before its invoice is final, so that the invoice's mail can confirm the order. */
async function subscriptionOf(
  deps: Deps,
  { userId, network }: Clerk,
  { customer, priceId }: { customer: string; priceId: Sold["id"] },
  { orderId, offer, amountCents }: KeptOrder,
): Promise<Stripe.Subscription> {
  const known = await transfers.selectSubscriptionOfOrder(deps.db, orderId);
  if (known !== undefined) return deps.payments.subscriptions.retrieve(known);
  const price = await stripePriceOf(deps, priceId);
  const terms = { collection_method: "send_invoice", days_until_due: offer.days_until_due } as const;
  const metadata = { user_id: userId, checkout_id: orderId };
  const parameters = { customer, items: [{ price, quantity: 1 }], ...terms, metadata, ...subscriptionTax(deps.config.stripe) };
  const created = await deps.payments.subscriptions
    .create(parameters, { idempotencyKey: `transfer-order:${orderId}` })
    .catch(async (error: unknown) => {
      // Stripe would repeat the refusal under the same key.
      if (isRefused(error)) await transfers.forgetOrderOfOffer(deps.db, userId, orderId);
      throw error;
    });
  await inTransaction(deps.db, async (trx) => {
    if (!(await noteCompleted(trx, orderId, { stripe_subscription_id: created.id }))) return;
    await recordAct(trx, { actor: userId, subject: userId, action: "transfer.ordered", network, details: { amountCents } });
  });
  return created;
}

/**
 * Orders what was offered. There are no credits before the first transfer has arrived. Ordering again gives the same invoice. Throws `not_found`,
 * `already_subscribed`, `consent_required`, `preview_outdated`, and what `orUnavailable` throws.
 */
export async function orderByTransfer(deps: Deps, buyer: Clerk, consent: Consent | undefined): Promise<TransferInvoice> {
  const { userId } = buyer;
  const offer = await transfers.selectOffer(deps.db, userId, deps.clock.now());
  if (!offer) throw new DomainError("not_found", "There is no such offer any more");
  const found = await offerTo(deps, userId, offer.price_id, "plan");
  const agreement = agree({ ...found, percent: 0, totals: { ...found.totals, ...offeredPrice(found.totals) } }, consent);
  return orUnavailable(deps.log, async () => {
    const subscription = await withCustomer(deps, userId, async ({ customerId }) => {
      await refuseSubscribed(deps, customerId, offer.order_id);
      const kept = await keepOrder(deps, userId, agreement);
      return subscriptionOf(deps, buyer, { customer: customerId, priceId: found.sold.id }, kept);
    });
    const invoice = await finalInvoice(deps, idOf(subscription.latest_invoice) ?? "");
    await syncSubscription(deps, subscription.id);
    const payerId = (await mirrorInvoice(deps, invoice.id))?.payerId;
    const { number, amount_due: amountCents } = invoice;
    if (payerId !== undefined) await announceToMembers(deps, payerId, "user_subscriptions");
    return { invoiceId: invoice.id, number, amountCents, dueAt: fromUnix(invoice.due_date ?? invoice.created).toISOString() };
  });
}
