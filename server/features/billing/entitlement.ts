import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import { spendableKinds } from "#domain/credits.ts";
import { planList, plans } from "#domain/plans.ts";
import type { SubscriptionTier } from "#domain/subscription.ts";
import { grantsAccess } from "#domain/subscription.ts";
import type { Executor } from "../../db/transaction.ts";

/** What a person may use now. */
export interface Entitlement {
  subscribed: boolean;
  tier: SubscriptionTier;
  requestsPerMinute: number;
  concurrentAnswers: number;
  /** The grants a spend may draw on. */
  kinds(smallTextModel: boolean): GrantKind[];
}

/** Read afresh at every call: a subscription that ended a moment ago gives nothing. `now` is business time. */
export async function readEntitlement(executor: Executor, userId: string, now: Date): Promise<Entitlement> {
  const query = executor.selectFrom("user_subscriptions").select(["plan_key", "status", "grace_until"]).where("user_id", "=", userId);
  const { rows } = await sql<Awaited<ReturnType<typeof query.execute>>[number]>`/* prepared */ ${query}`.execute(executor);
  const row = rows[0];
  const plan =
    row && grantsAccess(row.status, row.grace_until, now) ? planList.find((candidate) => candidate.key === row.plan_key) : undefined;
  // The trial runs under Starter's rate limits (decisions.md, "Trial").
  const { requestsPerMinute, concurrentAnswers } = plan ?? plans.starter;
  return {
    subscribed: plan !== undefined,
    tier: plan?.key ?? "none",
    requestsPerMinute,
    concurrentAnswers,
    kinds: (smallTextModel) => spendableKinds(plan !== undefined, smallTextModel),
  };
}
