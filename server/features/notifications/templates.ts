import type { PlanKey } from "#domain/plans.ts";

/** The mails and what each needs to be rendered. Instants are RFC 3339, so that the mail writes them in the reader's language. */
export interface MailParameters {
  "confirm-email": { linkId: string };
  "account-exists": Record<never, never>;
  "subscription-started": { plan: PlanKey; credits: number; renewsAt: string };
  "payment-failed": { plan: PlanKey; graceUntil: string };
}
export type MailTemplate = keyof MailParameters;

export const mailTemplates = [
  "confirm-email",
  "account-exists",
  "subscription-started",
  "payment-failed",
] as const satisfies readonly MailTemplate[];
