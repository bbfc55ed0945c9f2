import { DomainError } from "#domain/errors.ts";
import { packOf } from "#domain/plans.ts";
import type { CheckoutReturn } from "../../contract/billing/subscription.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { SubscriptionRow } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { enqueue } from "../../queue/outbox.ts";
import { readUnpaid } from "./invoices.ts";
import * as queries from "./queries.ts";

/**
 * Whether the checkout began the person's newest subscription. Right after the checkout is marked as paid, the newest row may still be an
 * earlier subscription, because the new one is written next. If it was never paid, no order names it, so its start is compared instead.
 */
function isOf(checkout: { contract_id: string | null; created_at: Date }, subscription: SubscriptionRow): boolean {
  const startedAfter = subscription.started_at.getTime() >= Math.floor(checkout.created_at.getTime() / 1000) * 1000;
  return checkout.contract_id === subscription.stripe_subscription_id || startedAfter;
}

/**
 * Called when somebody comes back from the payment page. If we know of no payment yet, a job asks Stripe, in case its event is late or
 * lost. There is one job for each checkout, however often the page asks. Throws `not_found` for another person's session.
 */
export async function returnFromCheckout(deps: Deps, userId: string, sessionId: string): Promise<CheckoutReturn> {
  return inTransaction(deps.db, async (trx) => {
    const checkout = await queries.selectOwnCheckout(trx, userId, sessionId);
    if (!checkout) throw new DomainError("not_found", "There is no such checkout");
    const pack = packOf(checkout.price_id);
    if (pack && checkout.status !== "open")
      return { state: checkout.status === "completed" ? "paid" : "expired", packCredits: pack.credits };
    if (pack) {
      await enqueue(trx, "settle-checkout", { sessionId }, sessionId);
      return { state: checkout.is_complete ? "processing" : "waiting", packCredits: pack.credits };
    }
    const subscription = await queries.selectSubscription(trx, userId);
    if (subscription?.status === "active") return { state: "paid", packCredits: null };
    if (checkout.status === "expired") return { state: "expired", packCredits: null };
    // The subscription of this checkout has ended meanwhile, so there is nothing to wait for.
    if (checkout.status === "completed" && subscription && isOf(checkout, subscription) && subscription.status !== "incomplete")
      return { state: "over", packCredits: null };
    await enqueue(trx, "settle-checkout", { sessionId }, sessionId);
    const { unpaid } = await readUnpaid(trx, subscription);
    return { state: unpaid?.processing ? "processing" : "waiting", packCredits: null };
  });
}
