import { tellLowCredits } from "#server/features/billing/low-credits.ts";
import type { Processor } from "../run-job.ts";

export const tellLowCreditsJob: Processor<"tell-low-credits"> = (deps, { grantId }) => tellLowCredits(deps, grantId);
