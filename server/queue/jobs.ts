/** The jobs by name with the shape of their payloads; worker/processors/ has one processor for each. */

import type { Static } from "typebox";
import { Type } from "typebox";

export const jobs = {
  /** Re-reads what a Stripe event is about and writes our state from that. */
  "process-stripe-event": Type.Object({ eventId: Type.String() }, { additionalProperties: false }),
  "send-mail": Type.Object({ mailId: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
} as const;

export type JobName = keyof typeof jobs;
export type JobPayload<Name extends JobName> = Static<(typeof jobs)[Name]>;

export function isJobName(name: string): name is JobName {
  return Object.hasOwn(jobs, name);
}
