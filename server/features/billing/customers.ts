import { DomainError } from "#domain/errors.ts";
import type { Deps } from "../../deps.ts";
import * as queries from "./queries.ts";

export interface Buyer {
  userId: string;
  customerId: string;
  language: string;
}

/** The person as Stripe's customer, made once: two tabs at the same moment send the same idempotency key. */
export async function ensureCustomer(deps: Pick<Deps, "db" | "payments">, userId: string): Promise<Buyer> {
  const user = await queries.selectBuyer(deps.db, userId);
  if (!user) throw new DomainError("unauthenticated", "Sign in to go on");
  if (user.stripe_customer_id) return { userId, customerId: user.stripe_customer_id, language: user.language };
  const created = await deps.payments.customers.create(
    { email: user.email, metadata: { user_id: userId } },
    { idempotencyKey: `customer:${userId}` },
  );
  await queries.saveCustomer(deps.db, userId, created.id);
  const saved = await queries.selectBuyer(deps.db, userId);
  return { userId, customerId: saved?.stripe_customer_id ?? created.id, language: user.language };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Whose customer this is: the person who was given it, or the one it names itself, should saving it have failed then.
 * Undefined: nobody of ours, an account deleted since included.
 */
export async function findUserOfCustomer(deps: Pick<Deps, "db" | "payments">, customerId: string): Promise<string | undefined> {
  const known = await queries.selectUserOfCustomer(deps.db, customerId);
  if (known !== undefined) return known;
  const customer = await deps.payments.customers.retrieve(customerId);
  const named = customer.deleted ? undefined : customer.metadata.user_id;
  if (named === undefined || !uuid.test(named)) return undefined;
  await queries.saveCustomer(deps.db, named, customerId);
  return queries.selectUserOfCustomer(deps.db, customerId);
}
