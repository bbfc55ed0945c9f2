/** Where the one button of each mail leads. */
import { mailtoAddress } from "#domain/rules.ts";
import type { Config } from "../../config.ts";
import { linkToken } from "./links.ts";
import { payToken } from "./pay-links.ts";
import type { MailTemplate } from "./templates.ts";

export type MailConfig = Pick<Config, "publicUrl" | "secretKeys" | "contactEmail" | "postalAddress">;

/** The fields of a queued mail's row. */
export interface MailContent {
  template: string;
  language: string;
  parameters: Readonly<Record<string, string | number>>;
}

/** The release before named no link. */
function disownPage(config: MailConfig, { linkId }: MailContent["parameters"]): string {
  return linkId === undefined ? "/profile/security" : `/auth?disown=${linkToken(config, String(linkId))}`;
}

/** Paths of ours, or an address that is no page. */
export const targets: Record<MailTemplate, (config: MailConfig, parameters: MailContent["parameters"]) => string> = {
  "confirm-email": (config, { linkId }) => `/auth?confirm=${linkToken(config, String(linkId))}`,
  "account-exists": () => "/auth?mode=recover",
  "password-reset": (config, { linkId }) => `/auth?recover=${linkToken(config, String(linkId))}`,
  "password-changed": () => "/auth?mode=recover",
  "email-change-confirm": (config, { linkId }) => `/auth?change=${linkToken(config, String(linkId))}`,
  "email-change-taken": () => "/auth",
  "email-change-notice": (config, { linkId }) => `/auth?undo=${linkToken(config, String(linkId))}`,
  "email-changed": (config, { linkId }) => `/auth?undo=${linkToken(config, String(linkId))}`,
  "account-given-back": (config, { linkId }) => `/auth?recover=${linkToken(config, String(linkId))}`,
  "second-factor-on": disownPage,
  "second-factor-off": () => "/profile/security",
  "passkey-added": disownPage,
  "passkey-removed": () => "/profile/security",
  "factor-reset-asked": (config, { resetId }) => `/auth?keep-factors=${linkToken(config, String(resetId))}`,
  "factor-reset-link": (config, { linkId }) => `/auth?reset-factors=${linkToken(config, String(linkId))}`,
  "recovery-code-used": () => "/profile/security",
  "google-linked": disownPage,
  "google-unlinked": () => "/profile/security",
  "subscription-started": () => "/ai-models",
  "pack-bought": () => "/profile",
  "credits-low": (_config, { variant }) => (variant === "unpaid" ? "/profile/billing" : "/pricing#packs"),
  // The release before named no invoice.
  "payment-failed": (config, { invoiceId }) =>
    invoiceId === undefined ? "/profile/billing" : `/api/billing/pay?invoice=${payToken(config, String(invoiceId))}`,
  "transfer-invoice": (config, { invoiceId }) => `/api/billing/pay?invoice=${payToken(config, String(invoiceId))}`,
  "transfer-overdue": (config, { invoiceId }) => `/api/billing/pay?invoice=${payToken(config, String(invoiceId))}`,
  "transfer-lapsed": () => "/contact",
  "transfer-offer": () => "/profile/billing",
  "payment-recovered": () => "/profile/billing",
  "plan-renewed": () => "/profile/billing",
  "plan-ended": () => "/pricing",
  "renewal-ahead": () => "/profile",
  "plan-change-planned": () => "/profile",
  "plan-cancelled": () => "/profile",
  "payment-refunded": (_config, { variant }) => (variant === "late" ? "/pricing" : "/profile"),
  "withdrawal-received": () => "/profile/billing",
  "refund-failed": () => "/profile",
  "dispute-opened": () => "/contact",
  "dispute-closed": () => "/profile",
  "trial-ending": () => "/pricing",
  "trial-ended": () => "/pricing",
  "model-ending": () => "/ai-models",
  "export-ready": () => "/profile/data",
  "support-access-asked": () => "/profile/data#support",
  "account-deleted": () => "/auth",
  "account-restored": () => "/profile",
  "contact-message": (_config, { email }) => mailtoAddress(String(email)),
  "contact-received": () => "/",
  // It has no button.
  "contact-answer": () => "/contact",
};

export function isTemplate(name: string): name is MailTemplate {
  return Object.hasOwn(targets, name);
}
