import { validate as isUuid } from "uuid";
import { DomainError } from "#domain/errors.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { TakenElsewhere } from "../../failures.ts";
import { isMissing, orMissing } from "../../providers/stripe.ts";
import { enqueue } from "../../queue/outbox.ts";
import { retireDeleted, selectFormerCustomers } from "./former-customers.ts";
import { markInvoicesRead } from "./invoice-queries.ts";
import * as queries from "./queries.ts";

/** Who buys, and the Stripe customer of the account that pays. */
export interface Buyer {
  userId: string;
  payerId: string;
  customerId: string;
  language: string;
}

type CustomerDeps = Pick<Deps, "db" | "payments" | "clock">;

const attempts = 4;

/**
 * Makes a customer at Stripe. Two tabs at once make one customer, because both send the same content under the same idempotency key, which is
 * another one after each deletion: under the earlier key Stripe would return the deleted customer for a day. The email address is not part
 * of the content, because it may change between two tries.
 */
async function makeCustomer(deps: CustomerDeps, { payer_id: payerId, email }: { payer_id: string; email: string }): Promise<string> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const { length: former } = await selectFormerCustomers(deps.db, payerId);
    const created = await deps.payments.customers.create(
      { metadata: { billing_account_id: payerId } },
      { idempotencyKey: `billing-account:${payerId}${former === 0 ? "" : `:${former}`}` },
    );
    try {
      await deps.payments.customers.update(created.id, { email });
      return created.id;
    } catch (error) {
      // Stripe repeated the answer to an earlier try, and that customer was deleted meanwhile.
      if (!isMissing(error) || !(await retireDeleted(deps, payerId, created.id))) throw error;
    }
  }
  throw new DomainError("payment_provider_unavailable", "Customers are being deleted as fast as they are made. Nothing was charged");
}

/** Returns the account's Stripe customer and makes it if there is none. */
export async function ensureCustomer(deps: CustomerDeps, userId: string): Promise<Buyer> {
  const account = await queries.selectAccountOf(deps.db, userId);
  const language = await queries.selectLanguage(deps.db, userId);
  if (!account || language === undefined) throw new DomainError("unauthenticated", "Sign in to go on");
  const { payer_id: payerId, stripe_customer_id: known } = account;
  if (known) return { userId, payerId, customerId: known, language };
  const created = await makeCustomer(deps, account);
  await inTransaction(deps.db, async (trx) => {
    await queries.saveCustomer(trx, payerId, created);
    // A customer who was just made has no invoices yet.
    await markInvoicesRead(trx, payerId, deps.clock.now());
    // If the address was changed meanwhile, the job for that change may have found no customer yet.
    await enqueue(trx, "update-customer", { userId });
  });
  const saved = await queries.selectAccountOf(deps.db, userId);
  return { userId, payerId, customerId: saved?.stripe_customer_id ?? created, language };
}

/**
 * Runs an order of the account's customer. If Stripe turns out to have deleted the customer and its event has not told us, the account gets another
 * one, and the order runs once more with it: so it has to be one that can run twice.
 */
export async function withCustomer<T>(deps: CustomerDeps, userId: string, order: (buyer: Buyer) => Promise<T>): Promise<T> {
  const buyer = await ensureCustomer(deps, userId);
  try {
    return await order(buyer);
  } catch (error) {
    if (!isMissing(error) || !(await retireDeleted(deps, buyer.payerId, buyer.customerId))) throw error;
    return order(await ensureCustomer(deps, userId));
  }
}

/**
 * Sends Stripe the account's present email address, if the account has one. Throws TakenElsewhere if the address changed again during every
 * try; the job is then tried again later.
 */
export async function updateCustomer(deps: Pick<Deps, "db" | "payments">, userId: string): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const account = await queries.selectAccountOf(deps.db, userId);
    if (!account?.stripe_customer_id) return;
    await orMissing(deps.payments.customers.update(account.stripe_customer_id, { email: account.email }));
    // Another job may have sent a newer address before this one arrived. So we check whether what we sent is still the present address.
    const now = await queries.selectAccountOf(deps.db, userId);
    if (now?.email === account.email) return;
  }
  throw new TakenElsewhere("the address of a customer keeps changing");
}

/**
 * Finds the billing account of a Stripe customer: the account that has or had it or, if saving it failed, the account named in its metadata.
 * Undefined if it is none of ours, or if the account's people are deleted.
 */
export async function findPayerOfCustomer(deps: Pick<Deps, "db" | "payments">, customerId: string): Promise<string | undefined> {
  const known = await queries.selectPayerOfCustomer(deps.db, customerId);
  if (known !== undefined) return known;
  const customer = await deps.payments.customers.retrieve(customerId);
  const named = customer.deleted ? undefined : customer.metadata.billing_account_id;
  if (named === undefined || !isUuid(named)) return undefined;
  await queries.saveCustomer(deps.db, named, customerId);
  return queries.selectPayerOfCustomer(deps.db, customerId);
}
