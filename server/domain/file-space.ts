import type { PlanKey } from "./plans.ts";
import { plans, trialFileMegabytes } from "./plans.ts";

/** How much a person's files may take together. */
export function storageBytesOf(tier: PlanKey | "none"): number {
  return tier === "none" ? trialFileMegabytes * 1e6 : plans[tier].fileGigabytes * 1e9;
}
