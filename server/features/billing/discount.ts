import { planList } from "#domain/plans.ts";
import { discountPricing } from "#domain/pricing.ts";
import type { DiscountEligibility } from "../../contract/billing.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import * as queries from "./queries.ts";

/** The discount in percent that the sandbox gives until an admin creates the first campaign. */
const sandboxPercent = 20;

/**
 * The discount on the first period in percent, for this person or a visitor. 0 if there is no campaign or the person has ever paid.
 */
export async function discountPercent(
  executor: Executor,
  config: Pick<Deps["config"], "sandbox">,
  userId: string | undefined,
  now: Date,
): Promise<number> {
  const campaign = await queries.selectCampaign(executor, now);
  const percent = campaign.percent ?? (config.sandbox && !campaign.any ? sandboxPercent : 0);
  if (percent === 0 || userId === undefined) return percent;
  return (await queries.hasEverPaid(executor, userId)) ? 0 : percent;
}

/** Returns whether a discount applies, and every plan's price with it (spec §7). */
export async function checkDiscountEligibility(
  deps: Pick<Deps, "db" | "clock" | "config">,
  userId: string | undefined,
): Promise<DiscountEligibility> {
  const percent = await discountPercent(deps.db, deps.config, userId, deps.clock.now());
  const pricing = Object.fromEntries(planList.map((plan) => [plan.key, discountPricing(plan, percent)]));
  return { discountEligible: percent > 0, pricing: pricing as DiscountEligibility["pricing"] };
}
