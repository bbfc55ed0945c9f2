import type { ContactCategory } from "#domain/contact.ts";
import type { LanguageCode } from "#domain/languages.ts";
import type { PlanKey } from "#domain/plans.ts";

/** The mails and what each needs to be rendered. Instants are RFC 3339, so that the mail writes them in the reader's language. */
export interface MailParameters {
  "confirm-email": { linkId: string };
  "account-exists": Record<never, never>;
  "subscription-started": { plan: PlanKey; credits: number; renewsAt: string };
  "payment-failed": { plan: PlanKey; graceUntil: string };
  /** To the team: what somebody wrote, as they wrote it. */
  "contact-message": {
    name: string;
    email: string;
    category: ContactCategory;
    topic: string;
    message: string;
    senderLanguage: LanguageCode;
  };
  "contact-received": Record<never, never>;
}
export type MailTemplate = keyof MailParameters;

export const mailTemplates = [
  "confirm-email",
  "account-exists",
  "subscription-started",
  "payment-failed",
  "contact-message",
  "contact-received",
] as const satisfies readonly MailTemplate[];
