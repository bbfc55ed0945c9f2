/** The jobs and the schemas of their payloads. worker/processors/ has one processor for each. */

import type { Static } from "typebox";
import { Type } from "typebox";

export const jobs = {
  /** Reads the object of a Stripe event from Stripe and updates our state from that. */
  "process-stripe-event": Type.Object({ eventId: Type.String() }, { additionalProperties: false }),
  /** Asks Stripe how a checkout ended. It is written when the payer comes back before Stripe's event has arrived. */
  "settle-checkout": Type.Object({ sessionId: Type.String() }, { additionalProperties: false }),
  /** Cancels the subscription of a person who is deleting their account, or resumes it for one who has taken that back. */
  "align-subscription": Type.Object({ userId: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
  /** Pays back at Stripe what a person asked back, and ends the subscription it was for. */
  "pay-back": Type.Object({ requestId: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
  /** Marks the invoice of a recorded bank transfer as paid at Stripe or, if the transfer was taken back, ends its plan. */
  "settle-transfer": Type.Object({ reference: Type.String({ maxLength: 140 }) }, { additionalProperties: false }),
  /** Copies the invoices that a person's customer had before there was our table. */
  "read-invoices": Type.Object({ userId: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
  /** Updates the email address of the Stripe customer that pays for this person. */
  "update-customer": Type.Object({ userId: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
  /** Tells an account that a share of the grant's credits is spent. A trigger writes it in the transaction that spends them. */
  "tell-low-credits": Type.Object({ grantId: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
  "send-mail": Type.Object({ mailId: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
  /** Puts a person's data into a zip file in the file storage. */
  "make-export": Type.Object({ exportId: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
  /** Deletes a file of the file storage. A trigger writes it in the transaction in which the last row that names the file goes. */
  "delete-file": Type.Object({ name: Type.String({ format: "uuid" }) }, { additionalProperties: false }),
  /** Deletes files of people. A trigger writes it in the transaction in which their rows go. */
  "delete-files": Type.Object({ names: Type.Array(Type.String({ format: "uuid" }), { maxItems: 100 }) }, { additionalProperties: false }),
} as const;

export type JobName = keyof typeof jobs;

/**
 * What a job may wait for. Each kind has its own queue and slots, so that a hanging Stripe doesn't delay mails and a hanging mail
 * server doesn't delay Stripe's events. `files`: the file storage. `invoices` and `exports` are long jobs for one person each,
 * reading a customer's invoices at Stripe and writing somebody's data to a file.
 */
export const jobKinds = ["stripe", "mail", "files", "invoices", "exports"] as const;
export type JobKind = (typeof jobKinds)[number];

export const kindOfJob: Readonly<Record<JobName, JobKind>> = {
  "process-stripe-event": "stripe",
  "settle-checkout": "stripe",
  "align-subscription": "stripe",
  "pay-back": "stripe",
  "settle-transfer": "stripe",
  "read-invoices": "invoices",
  "update-customer": "stripe",
  "tell-low-credits": "mail",
  "send-mail": "mail",
  "make-export": "exports",
  "delete-file": "files",
  "delete-files": "files",
};
export type JobPayload<Name extends JobName> = Static<(typeof jobs)[Name]>;

export function isJobName(name: string): name is JobName {
  return Object.hasOwn(jobs, name);
}
