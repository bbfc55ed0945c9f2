/** Payments that Stripe has: each must be in our books, with the credits it paid for. */
import type Stripe from "stripe";
import type { Finding, FindingDetails } from "#domain/findings.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { fromUnix, idOf } from "../../providers/stripe.ts";
import * as checkQueries from "./check-queries.ts";
import type { BillingDeps, Check } from "./checks.ts";
import { repairEach, report } from "./checks.ts";
import { isOver, postLineGrants } from "./grant-invoice.ts";
import { processCheckout } from "./process-event.ts";
import * as queries from "./queries.ts";
import { readPaidInvoice } from "./read-invoices.ts";
import { selectDuplicates } from "./readings.ts";
import { KnownPrices } from "./stripe-catalogue.ts";
import { syncSubscription } from "./sync-subscription.ts";

function subscriptionOf(invoice: Stripe.Invoice): string | undefined {
  return idOf(invoice.parent?.subscription_details?.subscription);
}

/** The session of our checkout that sold something once, if the invoice is from one. */
async function sessionOf(deps: BillingDeps, invoice: Stripe.Invoice): Promise<string | undefined> {
  return queries.selectSessionOf(deps.db, invoice.metadata?.checkout_id ?? "");
}

function detailsOf(invoice: Stripe.Invoice, credits: number): FindingDetails {
  const paidAt = fromUnix(invoice.status_transitions.paid_at ?? invoice.created).toISOString();
  return { amountCents: invoice.amount_paid, currency: invoice.currency, paidAt, credits };
}

async function tellMembers(deps: BillingDeps, payerId: string): Promise<void> {
  await announceToMembers(deps, payerId, "user_subscriptions", "wallets");
}

/** Reads where the invoices come from again, once each, and writes them as their events do. */
async function book(check: Check, invoices: readonly Stripe.Invoice[]): Promise<void> {
  const { deps } = check;
  const subscriptions = new Set(invoices.flatMap((invoice) => subscriptionOf(invoice) ?? []));
  await repairEach(check, subscriptions, async (subscriptionId) => {
    const result = await syncSubscription(deps, subscriptionId);
    if (result) await tellMembers(deps, result.payerId);
    return result?.walletChanged ?? false;
  });
  const sessions = new Set<string>();
  for (const invoice of invoices) {
    const session = subscriptionOf(invoice) === undefined ? await sessionOf(deps, invoice) : undefined;
    if (session !== undefined) sessions.add(session);
  }
  await repairEach(check, sessions, async (sessionId) => {
    await processCheckout(deps, sessionId);
    return true;
  });
}

/** Invoices of a subscription that is ended and refunded as a duplicate are not recorded, and never will be. */
async function withoutDuplicates(deps: BillingDeps, invoices: readonly Stripe.Invoice[]): Promise<Stripe.Invoice[]> {
  const duplicates = await selectDuplicates(
    deps.db,
    invoices.flatMap((invoice) => subscriptionOf(invoice) ?? []),
  );
  return invoices.filter((invoice) => !duplicates.has(subscriptionOf(invoice) ?? ""));
}

/** Books the paid invoices that are not in our books. Those of customers that are not ours are left alone. */
async function bookUnrecorded(check: Check, invoices: readonly Stripe.Invoice[]): Promise<Finding[]> {
  const { deps } = check;
  if (invoices.length === 0) return [];
  await book(check, invoices);
  const ids = invoices.map(({ id }) => id);
  const recorded = await queries.selectRecordedInvoices(deps.db, ids);
  const credits = await checkQueries.selectGrantedCredits(deps.db, ids);
  const found: Finding[] = [];
  for (const invoice of await withoutDuplicates(deps, invoices)) {
    const payerId = await queries.selectPayerOfCustomer(deps.db, idOf(invoice.customer) ?? "");
    const isRepaired = recorded.has(invoice.id);
    if (payerId === undefined || (!isRepaired && invoice.amount_paid === 0)) continue;
    const details = detailsOf(invoice, credits.get(invoice.id) ?? 0);
    found.push(await report(check, { kind: "unrecorded_payment", subject: invoice.id, payerId, details, isRepaired }));
  }
  return found;
}

async function isRefunded({ payments }: BillingDeps, chargeId: string | null): Promise<boolean> {
  if (chargeId === null) return false;
  const charge = await payments.charges.retrieve(chargeId);
  return charge.amount_refunded > 0 || charge.disputed;
}

/** Posts the credits under their usual keys. Those of a month that is over, or of a refunded payment, are left to a person. */
async function postMissing(check: Check, payerId: string, invoice: Stripe.Invoice): Promise<boolean> {
  const { deps } = check;
  const subscriptionId = subscriptionOf(invoice);
  if (subscriptionId === undefined) {
    const session = await sessionOf(deps, invoice);
    if (session !== undefined) await processCheckout(deps, session);
    return (await checkQueries.selectWithoutGrant(deps.db, [invoice.id])).length === 0;
  }
  const paid = await readPaidInvoice(deps, invoice, new KnownPrices(deps.payments, []));
  const now = deps.clock.now();
  if (paid.lines.every((line) => isOver(line, now)) || (await isRefunded(deps, paid.chargeId))) return false;
  await inTransaction(deps.db, async (trx) => {
    await queries.lockSubject(trx, `billing:${payerId}`);
    await postLineGrants(trx, payerId, paid, now);
  });
  // Cancels the months after the subscription's end, if it has ended.
  await syncSubscription(deps, subscriptionId);
  await tellMembers(deps, payerId);
  return true;
}

async function grantMissing(check: Check, invoices: readonly Stripe.Invoice[]): Promise<Finding[]> {
  const { deps } = check;
  const found: Finding[] = [];
  const byId = new Map(invoices.map((invoice) => [invoice.id, invoice]));
  const lacking = await checkQueries.selectWithoutGrant(deps.db, [...byId.keys()]);
  await repairEach(
    check,
    lacking.map(({ id }) => id),
    async (id) => {
      const invoice = byId.get(id);
      const payerId = lacking.find((row) => row.id === id)?.payer_id;
      if (!invoice || !payerId) return false;
      const isRepaired = await postMissing(check, payerId, invoice).catch(async (error: unknown) => {
        await report(check, { kind: "missing_grant", subject: id, payerId, details: detailsOf(invoice, 0), isRepaired: false });
        throw error;
      });
      const credits = (await checkQueries.selectGrantedCredits(deps.db, [id])).get(id) ?? 0;
      found.push(await report(check, { kind: "missing_grant", subject: id, payerId, details: detailsOf(invoice, credits), isRepaired }));
      return isRepaired;
    },
  );
  return found;
}

/** Checks paid invoices, and returns what was wrong with which of them. Throws only if Stripe or PostgreSQL can't be reached at all. */
export async function checkPayments(check: Check, invoices: readonly Stripe.Invoice[]): Promise<Finding[]> {
  const known = await queries.selectRecordedInvoices(
    check.deps.db,
    invoices.map(({ id }) => id),
  );
  const unrecorded = await bookUnrecorded(
    check,
    invoices.filter(({ id }) => !known.has(id)),
  );
  const lacking = await grantMissing(
    check,
    invoices.filter(({ id }) => known.has(id)),
  );
  return [...unrecorded, ...lacking];
}
