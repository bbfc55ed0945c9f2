import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import { spendableKinds } from "#domain/credits.ts";
import { planList, plans } from "#domain/plans.ts";
import type { SubscriptionTier } from "#domain/subscription.ts";
import { grantsAccess } from "#domain/subscription.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Entitling } from "../../db/types-billing.ts";

/** What a person may use now. */
export interface Entitlement {
  /** Has a plan, or is on the free trial. */
  subscribed: boolean;
  /** `none` on the trial, too. */
  tier: SubscriptionTier;
  /** The end of the trial that runs; null if none does. After an upgrade both may run. */
  trialEndsAt: Date | null;
  requestsPerMinute: number;
  concurrentAnswers: number;
  /** Above this price the person wants to be asked before a send; null: never. */
  askAboveCredits: number | null;
  /** The kinds of grants that may pay for an answer of a small text model, or of any other. */
  kinds(smallTextModel: boolean): GrantKind[];
}

/** `now` is business time. The rows are never cached, so a subscription gives nothing once it has ended. */
export function entitlementOf(row: Entitling | undefined, now: Date): Entitlement {
  const pays = row?.status && grantsAccess(row.status, row.grace_until, now);
  const plan = pays ? planList.find(({ key }) => key === row.plan_key) : undefined;
  const trialEndsAt = row?.trial_ends_at && now < row.trial_ends_at ? row.trial_ends_at : null;
  // People on the trial have Starter's rate limits.
  const { requestsPerMinute, concurrentAnswers } = plan ?? plans.starter;
  return {
    subscribed: plan !== undefined || trialEndsAt !== null,
    tier: plan?.key ?? "none",
    trialEndsAt,
    requestsPerMinute,
    concurrentAnswers,
    askAboveCredits: row?.ask_above_credits ?? null,
    kinds: (smallTextModel) => spendableKinds(plan !== undefined, smallTextModel),
  };
}

/** Reads what each person may use now, in the order of `asks`. */
export async function readEntitlements(executor: Executor, asks: readonly { userId: string; now: Date }[]): Promise<Entitlement[]> {
  const { rows } = await sql<
    Entitling & { user_id: string }
  >`/* prepared */ select asked.user_id, plan_key, status, grace_until, ends_at as trial_ends_at,
      ask_above_credits
    from unnest(${asks.map(({ userId }) => userId)}::uuid[]) asked (user_id)
    left join user_subscriptions using (user_id) left join trials using (user_id)
    left join spending_limits using (user_id)`.execute(executor);
  const rowOf = new Map(rows.map((row) => [row.user_id, row]));
  return asks.map(({ userId, now }) => entitlementOf(rowOf.get(userId), now));
}

export async function readEntitlement(executor: Executor, userId: string, now: Date): Promise<Entitlement> {
  const [entitlement] = await readEntitlements(executor, [{ userId, now }]);
  if (!entitlement) throw new Error("an entitlement was asked for and none came");
  return entitlement;
}
