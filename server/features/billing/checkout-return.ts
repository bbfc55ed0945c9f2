import { DomainError } from "#domain/errors.ts";
import type { CheckoutReturn } from "../../contract/billing.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { enqueue } from "../../queue/outbox.ts";
import * as queries from "./queries.ts";

/**
 * Somebody is back from the payment page. Where we know of no payment yet, a job asks Stripe itself, beside the event that
 * may be late or lost: one for each checkout, however often its page asks. Throws `not_found` for a session that is not this person's own.
 */
export async function returnFromCheckout(deps: Deps, userId: string, sessionId: string): Promise<CheckoutReturn> {
  return inTransaction(deps.db, async (trx) => {
    const checkout = await queries.selectOwnCheckout(trx, userId, sessionId);
    if (!checkout) throw new DomainError("not_found", "There is no such checkout");
    const subscription = await queries.selectSubscription(trx, userId);
    if (subscription?.status === "active") return { state: "paid" };
    if (checkout.status === "expired") return { state: "expired" };
    // The subscription of this checkout has ended since, so there is nothing to wait for.
    if (checkout.status === "completed" && subscription && subscription.status !== "incomplete") return { state: "over" };
    await enqueue(trx, "settle-checkout", { sessionId }, sessionId);
    return { state: "waiting" };
  });
}
