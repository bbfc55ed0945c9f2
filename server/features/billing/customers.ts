import { validate as isUuid } from "uuid";
import { DomainError } from "#domain/errors.ts";
import type { Deps } from "../../deps.ts";
import * as queries from "./queries.ts";

/** Who buys, and the customer at Stripe of the account that pays for it. */
export interface Buyer {
  userId: string;
  customerId: string;
  language: string;
}

/** The account as Stripe's customer, made once: two tabs at the same moment send the same content under the same idempotency key. */
export async function ensureCustomer(deps: Pick<Deps, "db" | "payments">, userId: string): Promise<Buyer> {
  const account = await queries.selectAccountOf(deps.db, userId);
  const language = await queries.selectLanguage(deps.db, userId);
  if (!account || language === undefined) throw new DomainError("unauthenticated", "Sign in to go on");
  if (account.stripe_customer_id) return { userId, customerId: account.stripe_customer_id, language };
  const created = await deps.payments.customers.create(
    { email: account.email, metadata: { billing_account_id: account.payer_id } },
    { idempotencyKey: `customer:${account.payer_id}` },
  );
  await queries.saveCustomer(deps.db, account.payer_id, created.id);
  const saved = await queries.selectAccountOf(deps.db, userId);
  return { userId, customerId: saved?.stripe_customer_id ?? created.id, language };
}

/**
 * Whose customer this is: the billing account that was given it, or the one it names itself, should saving it have failed then.
 * Undefined: nobody of ours, an account whose people are deleted included.
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
