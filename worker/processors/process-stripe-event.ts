import { processStripeEvent } from "#server/features/billing/process-event.ts";
import type { Processor } from "../run-job.ts";

export const processStripeEventJob: Processor<"process-stripe-event"> = (deps, { eventId }) => processStripeEvent(deps, eventId);
