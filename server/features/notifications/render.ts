/** Renders mails in the reader's language, as plain text and as HTML that follows the reader's light or dark theme. */
import { createInstance } from "i18next";
import { minuteMs } from "#domain/clock.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, matchLanguage } from "#domain/languages.ts";
import { findModel } from "#domain/models.ts";
import { emailChangeMs, recoveryMs } from "#domain/periods.ts";
import type { PlanKey } from "#domain/plans.ts";
import { plans, withdrawalDays } from "#domain/plans.ts";
import type { Config } from "../../config.ts";
import type { MailedFile } from "../../providers/mail.ts";
import { contractTerms } from "./contract-terms.ts";
import { instant, money, timeFormat } from "./formats.ts";
import type { Parts } from "./html.ts";
import { toHtml } from "./html.ts";
import de from "./locales/de.json" with { type: "json" };
import en from "./locales/en.json" with { type: "json" };
import es from "./locales/es.json" with { type: "json" };
import fr from "./locales/fr.json" with { type: "json" };
import it from "./locales/it.json" with { type: "json" };
import ja from "./locales/ja.json" with { type: "json" };
import pl from "./locales/pl.json" with { type: "json" };
import pt from "./locales/pt.json" with { type: "json" };
import ro from "./locales/ro.json" with { type: "json" };
import ru from "./locales/ru.json" with { type: "json" };
import zh from "./locales/zh.json" with { type: "json" };
import type { MailConfig, MailContent } from "./targets.ts";
import { isTemplate, targets } from "./targets.ts";
import type { MailTemplate } from "./templates.ts";
import { termsFile } from "./terms.ts";

const texts = { en, es, fr, de, zh, ja, pt, pl, ro, it, ru } satisfies Record<LanguageCode, object>;

const i18n = createInstance();
await i18n.init({
  fallbackLng: fallbackLanguage,
  resources: Object.fromEntries(Object.entries(texts).map(([language, translation]) => [language, { translation }])),
  // i18next must not escape: plain text needs no escaping, and the HTML escapes every value itself.
  interpolation: { escapeValue: false },
});

export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
  language: LanguageCode;
  /** The address that gets a reply. */
  replyTo: string;
  /** The address to which a mail program posts when the reader wants no more mails of this kind; undefined for mails that are always sent. */
  unsubscribeUrl: string | undefined;
  attachments: readonly MailedFile[];
  /** A team member wrote it. */
  isByHand: boolean;
}

/** The page on which mails of a kind can be switched off without a sign-in. */
export function unsubscribePage({ publicUrl }: Pick<Config, "publicUrl">, token: string): string {
  return new URL(`/profile/notifications?unsubscribe=${encodeURIComponent(token)}`, publicUrl).href;
}

/** A reply to the mail with somebody's message reaches that person; a reply to any other mail reaches the team. */
function answeredBy(config: MailConfig, { template, parameters }: MailContent): string {
  return template === "contact-message" ? String(parameters.email) : config.contactEmail;
}

function planName(key: string | number | undefined): string | undefined {
  return Object.hasOwn(plans, String(key)) ? plans[String(key) as PlanKey].name : undefined;
}

/**
 * Parameters that this release added. A mail without them was queued by a process of the previous release; the texts named `…_earlier` don't
 * use them.
 */
const newParameters: Partial<Record<MailTemplate, string>> = {
  "second-factor-on": "linkId",
  "passkey-added": "linkId",
  "google-linked": "linkId",
  "subscription-started": "amountCents",
  "payment-failed": "amountCents",
  "contact-message": "reference",
  "contact-received": "reference",
};

/** The context by which i18next chooses a text, such as `detail_month`, `detail_ending` or `detail_earlier`; otherwise `detail`. */
function contextOf(template: MailTemplate, parameters: MailContent["parameters"]): string {
  const added = newParameters[template];
  return added !== undefined && parameters[added] === undefined ? "earlier" : String(parameters.variant ?? parameters.interval ?? "");
}

/** The parameters as the texts show them: times as dates, cents as money, counts in the language's format. */
function readable(config: MailConfig, language: LanguageCode, template: MailTemplate, parameters: MailContent["parameters"]) {
  const {
    plan,
    newPlan,
    credits,
    renewsAt,
    endedAt,
    endsAt,
    graceUntil,
    receivedAt,
    changedAt,
    left,
    expiresAt,
    deleteAt,
    senderLanguage,
    priceCents,
    amountCents,
    taxCents,
    usableUntil,
    concludedAt,
    percent,
    dueAt,
    accessUntil,
    beginsAt,
    model,
    successor,
  } = parameters;
  return {
    ...parameters,
    language: senderLanguage === undefined ? undefined : new Intl.DisplayNames(language, { type: "language" }).of(String(senderLanguage)),
    plan: planName(plan),
    newPlan: planName(newPlan),
    model: findModel(String(model))?.name ?? model,
    successor: findModel(String(successor))?.name ?? successor,
    date: instant(language, renewsAt ?? endsAt ?? endedAt ?? graceUntil ?? usableUntil ?? concludedAt ?? dueAt, { dateStyle: "long" }),
    time: instant(language, receivedAt ?? changedAt ?? expiresAt ?? deleteAt, timeFormat),
    until: instant(language, expiresAt, timeFormat),
    from: instant(language, beginsAt, { dateStyle: "long" }),
    end: instant(language, accessUntil, { dateStyle: "long" }),
    price: money(language, priceCents),
    amount: money(language, amountCents),
    tax: money(language, taxCents),
    context: contextOf(template, parameters),
    count: Number(credits ?? left ?? 0),
    credits: new Intl.NumberFormat(language).format(Number(credits ?? 0)),
    left: left === undefined ? undefined : new Intl.NumberFormat(language).format(Number(left)),
    minutes: (template === "email-change-confirm" ? emailChangeMs : recoveryMs) / minuteMs,
    site: config.publicUrl.host,
    percent: new Intl.NumberFormat(language, { style: "percent" }).format(Number(percent ?? 0) / 100),
    limits: new URL("/profile/usage#limits", config.publicUrl).href,
    terms: new URL("/terms", config.publicUrl).href,
    contact: config.contactEmail,
    days: new Intl.NumberFormat(language).format(withdrawalDays),
  };
}

function toText({ lead, detail, action, address, note, contract, signature, footer, sender, leave, leaveAddress }: Parts): string {
  const end = leave && `${leave}:\n${leaveAddress}\n`;
  const paragraphs = contract.map(({ title, text }) => `${title ? `${title.toLocaleUpperCase()}\n\n` : ""}${text}\n\n`);
  const button = action && `${action}:\n${address}\n\n`;
  return `${lead}\n\n${detail}\n\n${button}${note}\n\n${paragraphs.join("")}-- \n${signature}\n${footer}\n${sender}\n${end}`;
}

/**
 * `unsubscribe` is the token by which the recipient switches mails like this one off. Throws if there is no such template: no release writes
 * such a row.
 */
export function renderMail(config: MailConfig, mail: MailContent, unsubscribe?: string): RenderedMail {
  const { template } = mail;
  if (!isTemplate(template)) throw new Error(`no mail template ${template}`);
  const language = matchLanguage(mail.language) ?? fallbackLanguage;
  const t = i18n.getFixedT(language);
  const parameters = readable(config, language, template, mail.parameters);
  const text = (name: string) => t(`${template}.${name}`, parameters);
  const isByHand = template === "contact-answer";
  const tax = mail.parameters.taxCents === undefined ? [] : [t("taxIncluded", parameters)];
  const parts: Parts = {
    // What a person wrote is inserted as it is. i18next must not read it as a text with placeholders.
    subject: isByHand ? String(mail.parameters.topic) : text("subject"),
    lead: text("lead"),
    detail: isByHand || template === "contact-message" ? String(mail.parameters.message) : [text("detail"), ...tax].join("\n\n"),
    action: isByHand ? "" : text("action"),
    note: text("note"),
    contract: contractTerms(t, config, language, mail),
    signature: t("signature"),
    footer: t(template === "contact-message" ? "footerTeam" : "footer", parameters),
    sender: config.postalAddress,
    address: new URL(targets[template](config, mail.parameters), config.publicUrl).href,
    leave: unsubscribe === undefined ? "" : t("unsubscribe"),
    leaveAddress: unsubscribe === undefined ? "" : unsubscribePage(config, unsubscribe),
  };
  return {
    subject: parts.subject,
    text: toText(parts),
    html: toHtml(language, config.publicUrl, parts),
    language,
    replyTo: answeredBy(config, mail),
    attachments: termsFile(config, mail),
    isByHand,
    unsubscribeUrl:
      unsubscribe === undefined ? undefined : new URL(`/api/notifications/unsubscribe?token=${unsubscribe}`, config.publicUrl).href,
  };
}
