/** An admin cancels or resumes a person's plan because the person asked for it. */
import { DomainError } from "#domain/errors.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Clerk } from "../team/service.ts";
import { cancelPlan, resumePlan } from "./cancellation.ts";
import { selectAccountOf, selectSubscription } from "./queries.ts";

interface Act {
  userId: string;
  reason: string;
}

/** The ids under which the person's payments are found at Stripe. */
export async function readBillingIds(executor: Executor, userId: string) {
  const account = await selectAccountOf(executor, userId);
  const subscription = await selectSubscription(executor, userId);
  return {
    billingAccountId: account?.payer_id ?? null,
    customerId: account?.stripe_customer_id ?? null,
    subscriptionId: subscription?.stripe_subscription_id ?? null,
  };
}

const acts = {
  "plan.cancelled": { change: cancelPlan, asked: "plan.cancel_asked" },
  "plan.resumed": { change: resumePlan, asked: "plan.resume_asked" },
} as const;

/**
 * Throws what the person's own act throws, and `conflict` if it is done already. The audit log gets the request before Stripe is called, so
 * that everything Stripe did has a reason there, and the result once Stripe has done it.
 */
export async function changePlanEnd(deps: Deps, clerk: Clerk, { userId, reason }: Act, action: keyof typeof acts): Promise<void> {
  const subscription = await selectSubscription(deps.db, userId);
  const ends = action === "plan.cancelled";
  if (subscription?.cancel_at_period_end === ends)
    throw new DomainError("conflict", ends ? "The plan is cancelled already" : "The plan is not cancelled");
  const { change, asked } = acts[action];
  const act = { actor: clerk.userId, subject: userId, network: clerk.network, details: {}, reason };
  let isRecorded = false;
  await change(deps, userId, async () => {
    // It may run twice, if the call to Stripe has to be repeated.
    if (!isRecorded) await recordAct(deps.db, { ...act, action: asked });
    isRecorded = true;
  });
  await recordAct(deps.db, { ...act, action });
}
