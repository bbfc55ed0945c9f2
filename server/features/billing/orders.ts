/**
 * What a person sees before the payment page opens, and what they agree to there (decision 57). The agreement is a row of its own, written with
 * the checkout; it names no person, but the account that pays.
 */
import { validate as isUuid } from "uuid";
import { addMonths } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import type { OrderTotals, Sold } from "#domain/orders.ts";
import { orderTexts, soldAs, totalsOf } from "#domain/orders.ts";
import { currency, packMonths } from "#domain/plans.ts";
import type { Consent, OrderPreview } from "../../contract/billing/orders.ts";
import { payerOf } from "../../db/payer.ts";
import type { Trx } from "../../db/transaction.ts";
import type { OrderRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { discountFor, percentOff } from "./discount.ts";
import { selectSubscription } from "./queries.ts";
import { taxShown } from "./stripe-tax.ts";
import { refuseRunningPlan } from "./trials.ts";

/** Something that may be sold to the person now, with what it costs them. */
export interface Offer {
  sold: Sold;
  totals: OrderTotals;
  /** Off the first period. */
  percent: number;
}

type OfferDeps = Pick<Deps, "db" | "clock" | "config" | "settings">;

/** Throws `purchases_paused` while an admin has closed the shop. A payment page that is open can still be paid, and plans renew. */
function refuseWhilePaused({ settings }: Pick<Deps, "settings">): void {
  if (!settings.current.purchases)
    throw new DomainError("purchases_paused", "Nothing can be ordered at the moment. Nothing was charged; try again later");
}

/**
 * `kind`: only this may be sold. Throws `purchases_paused`, `unknown_price`, `already_subscribed`, `plan_suspended`, and `subscription_required` for packs
 * unless the plan is paid.
 */
export async function offerTo(deps: OfferDeps, userId: string, priceId: string, kind?: Sold["kind"]): Promise<Offer> {
  refuseWhilePaused(deps);
  const { db, clock, config } = deps;
  const sold = soldAs(priceId);
  if (!sold || (kind ?? sold.kind) !== sold.kind) throw new DomainError("unknown_price", "There is no such price");
  const subscription = await selectSubscription(db, userId);
  if (sold.kind === "plan") refuseRunningPlan(subscription);
  if (sold.kind === "pack" && subscription?.status !== "active")
    throw new DomainError("subscription_required", "Packs are for people with a plan that is paid");
  const percent = sold.kind === "plan" ? percentOff(await discountFor(db, config, userId, clock.now()), sold.plan.key) : 0;
  return { sold, percent, totals: totalsOf(sold, percent) };
}

function monthsOf(sold: Sold): number {
  if (sold.kind === "pack") return packMonths;
  return sold.interval === "year" ? 12 : 1;
}

/** Throws what `offerTo` throws. */
export async function previewOrder(deps: OfferDeps, userId: string, priceId: string): Promise<OrderPreview> {
  const { sold, totals } = await offerTo(deps, userId, priceId);
  return {
    subject:
      sold.kind === "plan" ? { kind: "plan", plan: sold.plan.key, interval: sold.interval } : { kind: "pack", credits: sold.pack.credits },
    ...totals,
    currency,
    tax: await taxShown(deps.db, deps.config.stripe, userId),
    until: addMonths(deps.clock.now(), monthsOf(sold)).toISOString(),
    ...orderTexts,
  };
}

/** What the person agreed to, as it is kept. */
export type Agreement = Omit<
  OrderRow,
  "id" | "billing_account_id" | "consented_at" | "stripe_session_id" | "stripe_subscription_id" | "contract_id" | "concluded_at"
>;

/**
 * Throws `consent_required` unless the person asks us to begin at once, and `preview_outdated` if the order would cost something else by now, or
 * accept other texts, than what they saw.
 */
export function agree({ sold, totals }: Offer, consent: Consent | undefined): Agreement {
  if (!consent?.beginAtOnce)
    throw new DomainError("consent_required", "Agree first that we begin before the period of withdrawal is over. Nothing was ordered");
  if (consent.amountCents !== totals.amountCents || consent.terms !== orderTexts.terms || consent.withdrawal !== orderTexts.withdrawal)
    throw new DomainError("preview_outdated", "The order would mean something else by now. Look at it again before you order");
  return {
    price_id: sold.id,
    amount_cents: totals.amountCents,
    later_cents: totals.laterCents,
    currency,
    credits: totals.credits,
    language: matchLanguage(consent.language) ?? fallbackLanguage,
    ...orderTexts,
  };
}

export async function insertOrder(trx: Trx, checkoutId: string, userId: string, agreement: Agreement, now: Date): Promise<void> {
  await trx
    .insertInto("orders")
    .values({ ...agreement, id: checkoutId, billing_account_id: payerOf(userId), consented_at: now })
    .execute();
}

/** Whether the checkout is for this price and these texts. One that the previous release opened has no order. */
export async function isAgreed(trx: Trx, checkoutId: string, agreement: Agreement): Promise<boolean> {
  const order = await trx
    .selectFrom("orders")
    .select("id")
    .where("id", "=", checkoutId)
    .where("amount_cents", "=", agreement.amount_cents)
    .where("terms", "=", agreement.terms)
    .where("withdrawal", "=", agreement.withdrawal)
    .executeTakeFirst();
  return order !== undefined;
}

/**
 * Notes that the order's session was completed, or that it led to this subscription, which waits for a transfer. From then on the order is
 * kept. Returns false if that was known.
 */
export async function noteCompleted(
  trx: Trx,
  checkoutId: string,
  begun: { stripe_session_id: string } | { stripe_subscription_id: string },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("orders")
    .set(begun)
    .where("id", "=", checkoutId)
    .where("stripe_session_id", "is", null)
    .where("stripe_subscription_id", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Notes that the order was paid and led to this contract. Returns the order; undefined if the contract came about without one. */
export async function concludeOrder(
  trx: Trx,
  checkoutId: string | undefined,
  contractId: string,
  now: Date,
): Promise<OrderRow | undefined> {
  if (checkoutId === undefined || !isUuid(checkoutId)) return undefined;
  return trx
    .updateTable("orders")
    .set({ contract_id: contractId, concluded_at: now })
    .where("id", "=", checkoutId)
    .where("contract_id", "is", null)
    .returningAll()
    .executeTakeFirst();
}
