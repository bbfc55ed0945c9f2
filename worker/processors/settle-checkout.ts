import { processCheckout } from "#server/features/billing/process-event.ts";
import type { Processor } from "../run-job.ts";

export const settleCheckoutJob: Processor<"settle-checkout"> = (deps, { sessionId }) => processCheckout(deps, sessionId);
