/**
 * A sample of every mail that we send, in each of its variants. The types follow the templates, so that a new mail or variant without a sample
 * does not compile. The values are hard ones: a day that another time zone would shift, long addresses, words without a space.
 */
import { orderTexts } from "#domain/orders.ts";
import type { BillingInterval } from "#domain/plans.ts";
import { plans, priceCents } from "#domain/plans.ts";
import type { MailParameters, MailTemplate } from "#server/features/notifications/templates.ts";

type VariantIn<P> = "variant" extends keyof P ? P["variant"] : undefined;
type PlainName<P> = "interval" extends keyof P ? P["interval" & keyof P] : "usual";
/** The sample's name: its variant or, without one, the interval that its parameters have. */
type NameOf<P> = P extends unknown ? Exclude<VariantIn<P>, undefined> | (undefined extends VariantIn<P> ? PlainName<P> : never) : never;
type Sample<P, Name> = P &
  (Name extends "usual" ? { variant?: never } : Name extends BillingInterval ? { interval: Name; variant?: never } : { variant: Name });
type Samples = { [T in MailTemplate]: { [Name in NameOf<MailParameters[T]> & string]: Sample<MailParameters[T], Name> } };

export const sampleDays = {
  ordered: "2026-11-30T23:28:00Z",
  before: "2026-11-30T23:30:00Z",
  due: "2026-12-14T23:30:00Z",
  at: "2026-12-31T23:30:00Z",
  yearLater: "2027-11-30T23:30:00Z",
};
const { ordered, before, due, at, yearLater } = sampleDays;
const linkId = "01a21fc4-5dbc-7dc7-ae28-7689927909c3";
const invoiceId = "in_1SNN9ns9j5lpYGbaecfGEWHtr";
const longAddress = "augusta.ada.king.countess.of.lovelace@correspondence.analytical-engine.example";
const { key: plan, monthlyCredits: credits } = plans.professional;
const monthly = priceCents(plans.professional, "month");
const yearly = priceCents(plans.professional, "year");

const newWay = { changedAt: before, linkId, expiresAt: at };
const order = { concludedAt: before, consentedAt: ordered, termsVersion: orderTexts.terms };
const started = { plan, credits, beginsAt: before, renewsAt: at, ...order };
const renewed = { plan, credits, amountCents: monthly, priceCents: monthly, renewsAt: at };
const low = { percent: 80, credits: 1250, left: 1250, renewsAt: at };
const unpaid = { plan, amountCents: monthly, graceUntil: at, invoiceId };
const transfer = { plan: "enterprise", number: "TESSERA-0001", amountCents: priceCents(plans.enterprise, "year") } as const;
const invoice = { ...transfer, dueAt: due, accessUntil: at, invoiceId };
const change = { plan: "starter", newPlan: plan, credits, renewsAt: at } as const;
const given = { amountCents: 1327, credits: 345 };
const statement = { name: "Ada Lovelace", email: longAddress, concludedAt: before, receivedAt: at, amountCents: 1327 };
const offer = { plan: "enterprise", expiresAt: at } as const;
const written = { topic: "Rechnungsadressänderungsbestätigungsschreiben", reference: "0123456789ab" };

const samples: Samples = {
  "confirm-email": { usual: { linkId } },
  "account-exists": { usual: {} },
  "password-reset": { usual: { linkId } },
  "password-changed": { usual: { changedAt: at } },
  "email-change-confirm": { usual: { linkId } },
  "email-change-taken": { usual: {} },
  "email-change-notice": { usual: { linkId, expiresAt: at } },
  "email-changed": { usual: { linkId, expiresAt: at } },
  "account-given-back": { usual: { linkId, expiresAt: at } },
  "second-factor-on": { usual: newWay },
  "second-factor-off": { usual: { changedAt: at } },
  "passkey-added": { usual: newWay },
  "passkey-removed": { usual: { changedAt: at } },
  "factor-reset-asked": { usual: { resetId: linkId, expiresAt: at } },
  "factor-reset-link": { usual: { linkId, expiresAt: at } },
  "recovery-code-used": { usual: { changedAt: at, left: 1 } },
  "google-linked": { usual: { ...newWay, googleEmail: longAddress } },
  "google-unlinked": { usual: { changedAt: at, googleEmail: longAddress } },
  "subscription-started": {
    month: { ...started, interval: "month", amountCents: monthly, taxCents: 798, priceCents: monthly },
    year: { ...started, interval: "year", amountCents: yearly, priceCents: yearly, renewsAt: yearLater },
  },
  "pack-bought": { usual: { ...order, amountCents: 1999, taxCents: 319, credits: 250, usableUntil: yearLater } },
  "credits-low": {
    usual: low,
    ending: { ...low, percent: 100, left: 1, variant: "ending" },
    unpaid: { ...low, variant: "unpaid" },
  },
  "payment-failed": { usual: unpaid, action: { ...unpaid, variant: "action" } },
  "transfer-invoice": {
    first: { ...invoice, consentedAt: ordered, termsVersion: order.termsVersion, variant: "first" },
    renewal: { ...invoice, variant: "renewal" },
  },
  "transfer-overdue": { usual: { ...transfer, graceUntil: at, invoiceId } },
  "transfer-lapsed": { usual: { ...transfer, dueAt: due } },
  "transfer-offer": { month: { ...offer, interval: "month" }, year: { ...offer, interval: "year" } },
  "payment-recovered": { usual: { ...renewed, taxCents: 798 }, ending: { ...renewed, variant: "ending" } },
  "plan-renewed": { usual: { ...renewed, taxCents: 798 }, ending: { ...renewed, variant: "ending" } },
  "plan-ended": { usual: { plan, endedAt: at }, unpaid: { plan, endedAt: at, variant: "unpaid" } },
  "renewal-ahead": {
    month: { plan, interval: "month", priceCents: monthly, renewsAt: at },
    year: { plan, interval: "year", priceCents: yearly, renewsAt: at },
    change: { plan, interval: "year", priceCents: yearly, renewsAt: at, variant: "change" },
  },
  "plan-change-planned": {
    month: { ...change, oldInterval: "year", interval: "month", amountCents: monthly },
    year: { ...change, oldInterval: "month", interval: "year", amountCents: yearly },
  },
  "plan-cancelled": { usual: { plan, endsAt: at } },
  "payment-refunded": {
    left: { ...given, left: 1200, variant: "left" },
    debt: { ...given, left: -67, variant: "debt" },
    late: { amountCents: monthly, credits: 0, left: 0, variant: "late" },
    transfer: { ...given, left: 1200, variant: "transfer" },
    transferDebt: { ...given, left: -67, variant: "transferDebt" },
  },
  "withdrawal-received": {
    month: { ...statement, plan: "starter", interval: "month" },
    year: { ...statement, plan: "starter", interval: "year" },
    transfer: { ...statement, plan: "enterprise", interval: "year", variant: "transfer" },
    pack: { ...statement, variant: "pack", credits: 250 },
  },
  "refund-failed": { usual: { ...given, left: 1545 } },
  "dispute-opened": { usual: { amountCents: yearly } },
  "dispute-closed": {
    won: { ...given, left: 1200, variant: "won" },
    left: { ...given, left: 1200, variant: "left" },
    debt: { ...given, left: -67, variant: "debt" },
  },
  "trial-ending": { usual: { expiresAt: at, priceCents: priceCents(plans.starter, "month") } },
  "trial-ended": { usual: { priceCents: priceCents(plans.starter, "month") } },
  "model-ending": {
    usual: { model: "gpt-5", successor: "gpt-6.1-sol", endsAt: at },
    priced: { model: "Our Llama", successor: "gpt-6-luna", endsAt: at, variant: "priced" },
    alone: { model: "Our Llama", endsAt: at, variant: "alone" },
  },
  "export-ready": { usual: { expiresAt: at }, team: { expiresAt: at, variant: "team" } },
  "support-access-asked": { usual: {} },
  "account-deleted": { usual: { deleteAt: at } },
  "account-restored": { usual: {} },
  "contact-message": {
    usual: {
      ...written,
      name: "Ada Lovelace",
      email: longAddress,
      category: "support",
      message: `How many?\n\nSee ${"https://example.com/a-very-long-address".repeat(3)}`,
      senderLanguage: "ja",
    },
  },
  "contact-received": { usual: { reference: written.reference, receivedAt: at } },
  "contact-answer": { usual: { ...written, message: "Hello Ada,\n\nas many as you like.\n\nGrace", receivedAt: at } },
};

/** Parameters that this release added to a mail. Each mail is also tried without them, because the release before may have queued it. */
const added: Partial<Record<MailTemplate, readonly string[]>> = {
  "second-factor-on": ["linkId", "expiresAt"],
  "passkey-added": ["linkId", "expiresAt"],
  "google-linked": ["linkId", "expiresAt"],
  "subscription-started": ["amountCents", "taxCents", "priceCents", "interval", "beginsAt", "concludedAt", "consentedAt", "termsVersion"],
  "payment-failed": ["amountCents", "invoiceId"],
  "contact-message": ["reference"],
  "contact-received": ["reference", "receivedAt"],
};

export interface MailSample {
  template: MailTemplate;
  variant: string;
  /** Of a picture or a fault. */
  name: string;
  parameters: Readonly<Record<string, string | number>>;
}

function sampleOf(template: MailTemplate, variant: string, parameters: object): MailSample {
  const name = variant === "usual" ? template : `${template}-${variant}`;
  return { template, variant, name, parameters: parameters as MailSample["parameters"] };
}

export const mailSamples: readonly MailSample[] = Object.entries(samples).flatMap(([template, variants]) =>
  Object.entries(variants).map(([variant, parameters]) => sampleOf(template as MailTemplate, variant, parameters)),
);

export const earlierMailSamples: readonly MailSample[] = Object.entries(added).map(([template, lacking]) => {
  const [whole = {}] = Object.values(samples[template as MailTemplate]);
  const parameters = Object.fromEntries(Object.entries(whole).filter(([name]) => !lacking.includes(name)));
  return sampleOf(template as MailTemplate, "earlier", parameters);
});
