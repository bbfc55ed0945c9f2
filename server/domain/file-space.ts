/** How much room for files each plan includes. Apart from the plans, because public pages have no use for it. */
import type { PlanKey } from "./plans.ts";

/** Of 10⁹ bytes. */
const gigabytes: Readonly<Record<PlanKey, number>> = { starter: 1, basic: 3, professional: 5, enterprise: 20 };

/** For somebody without a plan, on the trial or after their plan has ended. */
const trialBytes = 100_000_000;

/** How much a person's files may take together. */
export function storageBytesOf(tier: PlanKey | "none"): number {
  return tier === "none" ? trialBytes : gigabytes[tier] * 1_000_000_000;
}
