/** The jobs by name with the shape of their payloads; worker/processors/ has one processor for each. */

import type { Static } from "typebox";
import { Type } from "typebox";

export const jobs = {
  /** Re-reads what a Stripe event is about and writes our state from that. */
  "process-stripe-event": Type.Object({ eventId: Type.String() }, { additionalProperties: false }),
  /** Asks Stripe how a checkout ended whose payer is back before its event. */
  "settle-checkout": Type.Object({ sessionId: Type.String() }, { additionalProperties: false }),
  "send-mail": Type.Object({ mailId: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
} as const;

export type JobName = keyof typeof jobs;

/**
 * Whom a job has to ask. Each kind has a queue and slots of its own, so that a Stripe which never answers keeps no mail
 * waiting, nor a mail server Stripe's events.
 */
export const jobKinds = ["stripe", "mail"] as const;
export type JobKind = (typeof jobKinds)[number];

export const kindOfJob: Readonly<Record<JobName, JobKind>> = {
  "process-stripe-event": "stripe",
  "settle-checkout": "stripe",
  "send-mail": "mail",
};
export type JobPayload<Name extends JobName> = Static<(typeof jobs)[Name]>;

export function isJobName(name: string): name is JobName {
  return Object.hasOwn(jobs, name);
}
