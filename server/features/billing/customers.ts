import { validate as isUuid } from "uuid";
import { DomainError } from "#domain/errors.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { TakenElsewhere } from "../../failures.ts";
import { orMissing } from "../../providers/stripe.ts";
import { enqueue } from "../../queue/outbox.ts";
import { markInvoicesRead } from "./invoice-queries.ts";
import * as queries from "./queries.ts";

/** Who buys, and the Stripe customer of the account that pays. */
export interface Buyer {
  userId: string;
  customerId: string;
  language: string;
}

/**
 * Returns the account's Stripe customer and makes it if there is none. Two tabs at once make one customer, because both send the same content
 * under the same idempotency key. The email address is not part of the content, because it may change between two tries.
 */
export async function ensureCustomer(deps: Pick<Deps, "db" | "payments" | "clock">, userId: string): Promise<Buyer> {
  const account = await queries.selectAccountOf(deps.db, userId);
  const language = await queries.selectLanguage(deps.db, userId);
  if (!account || language === undefined) throw new DomainError("unauthenticated", "Sign in to go on");
  if (account.stripe_customer_id) return { userId, customerId: account.stripe_customer_id, language };
  const created = await deps.payments.customers.create(
    { metadata: { billing_account_id: account.payer_id } },
    { idempotencyKey: `billing-account:${account.payer_id}` },
  );
  await deps.payments.customers.update(created.id, { email: account.email });
  await inTransaction(deps.db, async (trx) => {
    await queries.saveCustomer(trx, account.payer_id, created.id);
    // A customer who was just made has no invoices yet.
    await markInvoicesRead(trx, account.payer_id, deps.clock.now());
    // If the address was changed meanwhile, the job for that change may have found no customer yet.
    await enqueue(trx, "update-customer", { userId });
  });
  const saved = await queries.selectAccountOf(deps.db, userId);
  return { userId, customerId: saved?.stripe_customer_id ?? created.id, language };
}

const attempts = 4;

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
 * Finds the billing account of a Stripe customer: the account that has it or, if saving it failed, the account named in its metadata.
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
