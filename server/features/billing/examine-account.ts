/**
 * Checks one account against Stripe and against its own entries, and repairs what is wrong by the code of the events: payments without
 * credits, credits without a payment, a subscription that differs, holds that nobody released. The full check does it for every account,
 * and a person can ask for it for their own.
 */
import type Stripe from "stripe";
import type { Finding } from "#domain/findings.ts";
import { orMissing } from "../../providers/stripe.ts";
import { checkWallets } from "../credits/check-books.ts";
import { releaseStaleHolds } from "../credits/service.ts";
import type { CheckedAccount } from "./check-queries.ts";
import * as checkQueries from "./check-queries.ts";
import type { Check } from "./checks.ts";
import { report } from "./checks.ts";
import { checkDoubledGrants } from "./grant-checks.ts";
import { paidBy, repairInvoices, selectWrongInvoices } from "./invoice-checks.ts";
import { checkPayments } from "./payment-checks.ts";
import * as queries from "./queries.ts";
import { checkSubscriptionRow } from "./reconcile.ts";
import { checkReturns, readCharges } from "./return-checks.ts";

/** Invoices read at most, newest first: four years of monthly payments and many packs. */
const invoiceLimit = 200;
const subscriptionLimit = 20;

/** The subscriptions that run at Stripe, and the one in our row. */
async function subscriptionsOf({ deps }: Check, { id }: CheckedAccount, customer: string): Promise<Set<string>> {
  const running = await deps.payments.subscriptions.list({ customer, limit: subscriptionLimit });
  const current = await queries.selectAccountSubscription(deps.db, id);
  return new Set([...(current ? [current.stripe_subscription_id] : []), ...running.data.map((subscription) => subscription.id)]);
}

async function examineAtStripe(check: Check, account: CheckedAccount, customer: string, found: Finding[]): Promise<void> {
  const { deps, signal } = check;
  const invoices: Stripe.Invoice[] = [];
  for await (const invoice of deps.payments.invoices.list({ customer, limit: 100, expand: ["data.payments"] })) {
    signal?.throwIfAborted();
    invoices.push(invoice);
    if (invoices.length === invoiceLimit) break;
  }
  found.push(
    ...(await checkPayments(
      check,
      invoices.filter(({ status }) => status === "paid"),
    )),
  );
  for (const subscriptionId of await subscriptionsOf(check, account, customer)) {
    signal?.throwIfAborted();
    const wrong = await checkSubscriptionRow(check, subscriptionId);
    if (wrong) found.push(wrong);
  }
  const atStripe = { invoices, charges: await readCharges(check, customer) };
  // Reading a returned charge copies its invoice, too, so what is wrong with our copies is looked at before.
  const wrong = await selectWrongInvoices(check, customer, atStripe);
  found.push(...(await checkReturns(check, account.id, atStripe.charges)));
  const subjects = new Set(found.map(({ subject }) => subject));
  const booked = new Set([...subjects, ...paidBy(atStripe, subjects)]);
  found.push(...(await repairInvoices(check, account.id, wrong, booked)));
}

async function examineBooks(check: Check, account: CheckedAccount, found: Finding[]): Promise<void> {
  const { deps } = check;
  for (const { holdId, payerId, credits, isReleased } of await releaseStaleHolds(deps, account.id))
    found.push(await report(check, { kind: "stale_hold", subject: holdId, payerId, details: { credits }, isRepaired: isReleased }));
  const wallets = await checkQueries.selectWalletsOf(deps.db, [account.id]);
  found.push(...(await checkDoubledGrants(check, wallets)));
  for (const { kind, id, recorded, rebuilt } of await checkWallets(deps, wallets)) {
    const details = { recorded, rebuilt };
    found.push({ kind: "books_disagree", subject: `${kind}:${id}`, payerId: account.id, details, isRepaired: false });
  }
}

/** Adds what was wrong to `found` and returns it. Throws Stripe's errors if it can't be asked; what was repaired until then stays repaired. */
export async function examineAccount(check: Check, account: CheckedAccount, found: Finding[] = []): Promise<Finding[]> {
  await examineBooks(check, account, found);
  if (account.stripe_customer_id) await examineAtStripe(check, account, account.stripe_customer_id, found);
  // Stripe keeps their payments; if it lists nothing of one, there is nothing to compare.
  for (const former of account.former_customers) await orMissing(examineAtStripe(check, account, former, found));
  await checkQueries.resolveSettled(check.deps.db, check.deps.clock.now(), account.id);
  return found;
}
