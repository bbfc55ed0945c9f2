import type { ContactCategory } from "#domain/contact.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { optionalMails } from "#domain/notifications.ts";
import type { BillingInterval, PlanKey } from "#domain/plans.ts";

/** `amountCents`: what was paid. `priceCents`: the next payment, at `renewsAt`; there is none if the plan is `ending` then. */
interface Renewed {
  plan: PlanKey;
  amountCents: number;
  /** How much of it was tax. */
  taxCents?: number;
  credits: number;
  priceCents: number;
  renewsAt: string;
  variant?: "ending";
}

/**
 * A contract that the mail confirms: when it was concluded, and when its order was made, with which version of the terms. A contract that did not
 * begin on our order page has no order.
 */
interface Concluded {
  amountCents: number;
  /** How much of it was tax. */
  taxCents?: number;
  credits: number;
  concludedAt: string;
  consentedAt?: string;
  termsVersion?: string;
}

/** `linkId`: of the link that removes the way to sign in again, until `expiresAt`. */
interface NewWay {
  changedAt: string;
  linkId: string;
  expiresAt: string;
}

/** The mails and what each needs to be rendered. Instants are RFC 3339, so that the mail writes them in the reader's language. */
export interface MailParameters {
  "confirm-email": { linkId: string };
  "account-exists": Record<never, never>;
  "password-reset": { linkId: string };
  "password-changed": { changedAt: string };
  "email-change-confirm": { linkId: string };
  "email-change-taken": Record<never, never>;
  /** `linkId`: of the link that reverses the change until `expiresAt`. */
  "email-change-notice": { linkId: string; expiresAt: string };
  "email-changed": { linkId: string; expiresAt: string };
  /** The team gives an account back that was taken over. */
  "account-given-back": { linkId: string; expiresAt: string };
  "second-factor-on": NewWay;
  "second-factor-off": { changedAt: string };
  "passkey-added": NewWay;
  "passkey-removed": { changedAt: string };
  /** `expiresAt`: when the waiting time ends. */
  "factor-reset-asked": { resetId: string; expiresAt: string };
  "factor-reset-link": { linkId: string; expiresAt: string };
  /** `left`: how many codes remain. */
  "recovery-code-used": { changedAt: string; left: number };
  /** `googleEmail`: the address the account has at Google. */
  "google-linked": NewWay & { googleEmail: string };
  "google-unlinked": { googleEmail: string; changedAt: string };
  /** `amountCents`: what was paid. `priceCents`: what each renewal costs. */
  "subscription-started": Concluded & {
    plan: PlanKey;
    interval: BillingInterval;
    priceCents: number;
    beginsAt: string;
    renewsAt: string;
  };
  /** `usableUntil`: when the credits expire. */
  "pack-bought": Concluded & { usableUntil: string };
  /**
   * `credits`: what the plan gives in a month, of which `percent` is spent. `left`: what can be spent, packs included. `renewsAt`: when the next
   * credits come; `ending`: the plan ends then; `unpaid`: they come with an open payment.
   */
  "credits-low": { percent: number; credits: number; left: number; renewsAt: string; variant?: "ending" | "unpaid" };
  /** `amountCents`: what is unpaid. `action`: the bank wants it confirmed. */
  "payment-failed": { plan: PlanKey; amountCents: number; graceUntil: string; invoiceId: string; variant?: "action" };
  /**
   * An invoice to be paid by bank transfer until `dueAt`. The plan of the `first` one never begins if it is not paid by then; of a `renewal` access
   * lasts until `accessUntil`. The first one names the order that led to it.
   */
  "transfer-invoice": {
    plan: PlanKey;
    number: string;
    amountCents: number;
    dueAt: string;
    accessUntil: string;
    invoiceId: string;
    variant: "first" | "renewal";
    consentedAt?: string;
    termsVersion?: string;
  };
  /** A renewal's transfer has not arrived when it was due. */
  "transfer-overdue": { plan: PlanKey; number: string; amountCents: number; graceUntil: string; invoiceId: string };
  /** The first transfer of a plan has not arrived by `dueAt`, so that the plan has not begun. */
  "transfer-lapsed": { plan: PlanKey; number: string; amountCents: number; dueAt: string };
  /** The team offers a plan to be paid by bank transfer, until `expiresAt`. */
  "transfer-offer": { plan: PlanKey; interval: BillingInterval; expiresAt: string };
  /** A payment that had failed went through. As `plan-renewed`. */
  "payment-recovered": Renewed;
  "plan-renewed": Renewed;
  /** `unpaid`: it ended because its renewal was not paid. */
  "plan-ended": { plan: PlanKey; endedAt: string; variant?: "unpaid" };
  /** What a yearly plan's renewal costs, at `renewsAt`; `interval` is that of the plan to come. `change`: that is another yearly one. */
  "renewal-ahead": { plan: PlanKey; interval: BillingInterval; priceCents: number; renewsAt: string; variant?: "change" };
  /** `amountCents`: the first payment for the new plan, at `renewsAt`. */
  "plan-change-planned": {
    plan: PlanKey;
    oldInterval: BillingInterval;
    newPlan: PlanKey;
    interval: BillingInterval;
    amountCents: number;
    credits: number;
    renewsAt: string;
  };
  "plan-cancelled": { plan: PlanKey; endsAt: string };
  /** `credits`: how many were taken back. `left`: the balance after it. `late`: it was paid after the plan had ended. */
  "payment-refunded": {
    amountCents: number;
    credits: number;
    left: number;
    variant: "left" | "debt" | "late" | "transfer" | "transferDebt";
  };
  /** The acknowledgement that the law asks for. `receivedAt`: when the statement arrived. */
  "withdrawal-received": {
    name: string;
    email: string;
    concludedAt: string;
    receivedAt: string;
    amountCents: number;
  } & ({ plan: PlanKey; interval: BillingInterval; variant?: "transfer" } | { variant: "pack"; credits: number });
  /** `credits`: how many were given back. */
  "refund-failed": { amountCents: number; credits: number; left: number };
  "dispute-opened": { amountCents: number };
  /** `debt` and `left`: it was lost, so that the money went back. */
  "dispute-closed": { amountCents: number; credits: number; left: number; variant: "won" | "left" | "debt" };
  /** `expiresAt`: when the trial ends. `priceCents`: of the cheapest plan's month. */
  "trial-ending": { expiresAt: string; priceCents: number };
  "trial-ended": { priceCents: number };
  /**
   * The ids of the model that ends at `endsAt` and of the one that follows it; of the operator's own models the names. `priced`: at another
   * price; `alone`: nothing follows.
   */
  "model-ending": { model: string; successor?: string; endsAt: string; variant?: "priced" | "alone" };
  /** `team`: we made it for a person who asked by mail. */
  "export-ready": { expiresAt: string; variant?: "team" };
  /** The team asks to read the person's conversations. */
  "support-access-asked": Record<never, never>;
  /** `deleteAt`: until then the account can be restored. */
  "account-deleted": { deleteAt: string };
  "account-restored": Record<never, never>;
  /** To the team: what somebody wrote, as they wrote it. */
  "contact-message": {
    name: string;
    email: string;
    category: ContactCategory;
    topic: string;
    message: string;
    senderLanguage: LanguageCode;
    reference: string;
  };
  /** `reference` stands in the team's mail as well, so that both speak of the same message. */
  "contact-received": { reference: string; receivedAt: string };
  /** What a team member wrote, as they wrote it. `inReplyTo`: the mail that said that the message has arrived. */
  "contact-answer": { topic: string; message: string; reference: string; receivedAt: string; inReplyTo?: string };
}
export type MailTemplate = keyof MailParameters;
// A mail that can be switched off is one of these.
optionalMails satisfies Record<string, readonly MailTemplate[]>;

export const mailTemplates = [
  "confirm-email",
  "account-exists",
  "password-reset",
  "password-changed",
  "email-change-confirm",
  "email-change-taken",
  "email-change-notice",
  "email-changed",
  "account-given-back",
  "second-factor-on",
  "second-factor-off",
  "passkey-added",
  "passkey-removed",
  "factor-reset-asked",
  "factor-reset-link",
  "recovery-code-used",
  "google-linked",
  "google-unlinked",
  "subscription-started",
  "pack-bought",
  "credits-low",
  "payment-failed",
  "transfer-invoice",
  "transfer-overdue",
  "transfer-lapsed",
  "transfer-offer",
  "payment-recovered",
  "plan-renewed",
  "plan-ended",
  "renewal-ahead",
  "plan-change-planned",
  "plan-cancelled",
  "payment-refunded",
  "withdrawal-received",
  "refund-failed",
  "dispute-opened",
  "dispute-closed",
  "trial-ending",
  "trial-ended",
  "model-ending",
  "export-ready",
  "support-access-asked",
  "account-deleted",
  "account-restored",
  "contact-message",
  "contact-received",
  "contact-answer",
] as const satisfies readonly MailTemplate[];
