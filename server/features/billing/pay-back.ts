/** The job that pays back what was asked back (ask-back.ts). Our books follow Stripe's events, as for any other refund. */
import type { Selectable } from "kysely";
import type { MoneyBacks } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { isRefundedAlready, isRefused } from "../../providers/stripe.ts";
import { endAtStripe } from "./end-at-stripe.ts";
import { lostCentsOf } from "./sync-charge.ts";
import { syncSubscription } from "./sync-subscription.ts";

/** What of a charge has not gone back yet, by refunds or by disputes that the cardholder won. */
async function leftOf({ payments }: Pick<Deps, "payments">, charge: string): Promise<number> {
  const { amount_captured: captured, amount_refunded: refunded } = await payments.charges.retrieve(charge);
  const { data: disputes } = await payments.disputes.list({ charge, limit: 100 });
  return captured - refunded - lostCentsOf(disputes);
}

/**
 * Refunds under a key of the request, so that it happens once. If Stripe refuses because somebody else has refunded a part meanwhile,
 * refunds the rest. Throws Stripe's other refusals: while the bank has the money, an operator decides.
 */
async function refund(deps: Pick<Deps, "payments">, { id, amount_cents: amount }: Selectable<MoneyBacks>, charge: string): Promise<void> {
  const create = (cents: number, idempotencyKey: string) =>
    deps.payments.refunds.create(
      { charge, amount: cents, reason: "requested_by_customer", metadata: { money_back: id } },
      { idempotencyKey },
    );
  try {
    await create(amount, `money-back:${id}`);
  } catch (error) {
    if (isRefundedAlready(error)) return;
    if (!isRefused(error)) throw error;
    const left = await leftOf(deps, charge);
    if (left >= amount) throw error;
    if (left > 0) await create(left, `money-back:${id}:${left}`);
  }
}

/**
 * Ends the subscription at Stripe and refunds the charge. If a transfer paid for the plan, the team pays back (transfer-returns.ts). May
 * run any number of times.
 */
export async function payBack(deps: Pick<Deps, "db" | "payments" | "clock" | "live" | "log">, requestId: string): Promise<void> {
  const request = await deps.db.selectFrom("money_backs").selectAll().where("id", "=", requestId).executeTakeFirst();
  if (!request || request.done_at) return;
  // The subscription ends first: if Stripe refuses the refund, the person must not pay for another period of a plan they gave back.
  if (request.stripe_subscription_id !== null) await endAtStripe(deps, request.stripe_subscription_id, "money-back");
  if (request.charge_id === null) {
    if (request.stripe_subscription_id !== null) await syncSubscription(deps, request.stripe_subscription_id);
    return announceToMembers(deps, request.billing_account_id, "user_subscriptions");
  }
  await refund(deps, request, request.charge_id);
  await deps.db
    .updateTable("money_backs")
    .set({ done_at: deps.clock.now() })
    .where("id", "=", requestId)
    .where("done_at", "is", null)
    .execute();
  await announceToMembers(deps, request.billing_account_id, "user_subscriptions");
}
