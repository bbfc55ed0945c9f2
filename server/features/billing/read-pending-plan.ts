import type Stripe from "stripe";
import type { SubscriptionRow } from "../../db/types-billing.ts";
import { fromUnix, idOf } from "../../providers/stripe.ts";
import type { KnownPrices } from "./stripe-catalogue.ts";
import { planOfPrice } from "./stripe-catalogue.ts";

export type PendingPlan = Pick<SubscriptionRow, "pending_plan_key" | "pending_interval" | "pending_from">;
export const noPendingPlan: PendingPlan = { pending_plan_key: null, pending_interval: null, pending_from: null };

/** The plan to which the subscription's schedule changes next, and when. The subscription must have been read with its schedule expanded. */
export async function readPendingPlan(subscription: Stripe.Subscription, prices: KnownPrices): Promise<PendingPlan> {
  const { schedule } = subscription;
  if (typeof schedule !== "object" || schedule?.status !== "active") return noPendingPlan;
  const until = schedule.current_phase?.end_date;
  const next = until === undefined ? undefined : schedule.phases.find((phase) => phase.start_date >= until);
  const priceId = idOf(next?.items[0]?.price);
  if (!next || priceId === undefined || priceId === subscription.items.data[0]?.price.id) return noPendingPlan;
  const sold = planOfPrice(await prices.get(priceId));
  if (!sold) return noPendingPlan;
  return { pending_plan_key: sold.plan.key, pending_interval: sold.interval, pending_from: fromUnix(next.start_date) };
}
