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
  /** The kinds of grants that may pay for an answer of a small text model, or of any other. */
  kinds(smallTextModel: boolean): GrantKind[];
}

/**
 * Reads what each person may use now, in the order of `asks`. It is never cached, so a subscription gives nothing once it has ended. `now`
 * is business time.
 */
export async function readEntitlements(executor: Executor, asks: readonly { userId: string; now: Date }[]): Promise<Entitlement[]> {
  const query = executor
    .selectFrom("user_subscriptions")
    .select(["user_id", "plan_key", "status", "grace_until"])
    .where("user_id", "=", sql<string>`any(${asks.map(({ userId }) => userId)}::uuid[])`);
  const { rows } = await sql<Awaited<ReturnType<typeof query.execute>>[number]>`/* prepared */ ${query}`.execute(executor);
  const rowOf = new Map(rows.map((row) => [row.user_id, row]));
  return asks.map(({ userId, now }) => {
    const row = rowOf.get(userId);
    const plan = row && grantsAccess(row.status, row.grace_until, now) ? planList.find(({ key }) => key === row.plan_key) : undefined;
    // People on the trial have Starter's rate limits.
    const { requestsPerMinute, concurrentAnswers } = plan ?? plans.starter;
    return {
      subscribed: plan !== undefined,
      tier: plan?.key ?? "none",
      requestsPerMinute,
      concurrentAnswers,
      kinds: (smallTextModel) => spendableKinds(plan !== undefined, smallTextModel),
    };
  });
}

export async function readEntitlement(executor: Executor, userId: string, now: Date): Promise<Entitlement> {
  const [entitlement] = await readEntitlements(executor, [{ userId, now }]);
  if (!entitlement) throw new Error("an entitlement was asked for and none came");
  return entitlement;
}
