import { alignSubscription } from "#server/features/billing/leaving.ts";
import type { Processor } from "../run-job.ts";

export const alignSubscriptionJob: Processor<"align-subscription"> = (deps, { userId }) => alignSubscription(deps, userId);
