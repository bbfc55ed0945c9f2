import { payBack } from "#server/features/billing/pay-back.ts";
import type { Processor } from "../run-job.ts";

export const payBackJob: Processor<"pay-back"> = (deps, { requestId }) => payBack(deps, requestId);
