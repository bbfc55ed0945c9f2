import type { Selectable } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { PlanKey } from "#domain/plans.ts";
import { planList } from "#domain/plans.ts";
import { discountPricing } from "#domain/pricing.ts";
import type { DiscountEligibility } from "../../contract/billing/subscription.ts";
import type { Executor } from "../../db/transaction.ts";
import type { DiscountCampaigns } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import * as queries from "./discount-queries.ts";

/** The discount in percent that the sandbox gives until an admin creates the first campaign. */
const sandboxPercent = 20;

/** Off the first period, in percent. `plans`: for these alone. */
export interface Discount {
  percent: number;
  plans: readonly string[] | null;
}

const noDiscount: Discount = { percent: 0, plans: null };

export function percentOff({ percent, plans }: Discount, plan: PlanKey): number {
  return plans === null || plans.includes(plan) ? percent : 0;
}

/** Whether the campaign is for this person or, without one, for a visitor. */
async function isFor(
  executor: Executor,
  { audience, ended_days: endedDays, starts_at: startedAt }: Selectable<DiscountCampaigns>,
  userId: string | undefined,
  now: Date,
): Promise<boolean> {
  if (audience === "new") return userId === undefined || !(await queries.hasEverPaid(executor, userId));
  if (userId === undefined || endedDays === null) return false;
  const endedBy = addMilliseconds(now, -endedDays * dayMs);
  return (await queries.hasLeft(executor, userId, endedBy)) && !(await queries.hadDiscountSince(executor, userId, startedAt));
}

/** The running campaign's discount, if it is for this person or for visitors. Asked again whenever somebody orders. */
export async function discountFor(
  executor: Executor,
  config: Pick<Deps["config"], "sandbox">,
  userId: string | undefined,
  now: Date,
): Promise<Discount> {
  const campaign = await queries.selectRunningCampaign(executor, now);
  if (campaign)
    return (await isFor(executor, campaign, userId, now)) ? { percent: campaign.percent, plans: campaign.plan_keys } : noDiscount;
  if (!config.sandbox || (await queries.hadCampaign(executor))) return noDiscount;
  const isNew = userId === undefined || !(await queries.hasEverPaid(executor, userId));
  return isNew ? { percent: sandboxPercent, plans: null } : noDiscount;
}

/** Returns whether a discount applies, and every plan's price with it (spec §7). */
export async function checkDiscountEligibility(
  deps: Pick<Deps, "db" | "clock" | "config">,
  userId: string | undefined,
): Promise<DiscountEligibility> {
  const discount = await discountFor(deps.db, deps.config, userId, deps.clock.now());
  const pricing = Object.fromEntries(planList.map((plan) => [plan.key, discountPricing(plan, percentOff(discount, plan.key))]));
  return { discountEligible: discount.percent > 0, pricing: pricing as DiscountEligibility["pricing"] };
}
