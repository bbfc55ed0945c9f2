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
import type { Paragraph } from "./contract-terms.ts";
import { contractTerms } from "./contract-terms.ts";
import { instant, money, timeFormat } from "./formats.ts";
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
    model: findModel(String(model))?.name,
    successor: findModel(String(successor))?.name,
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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `:root{color-scheme:light dark}body{margin:0;padding:32px 20px;background:#faf7f2;color:#29241f;font:16px/1.6 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:520px;margin:0 auto;overflow-wrap:anywhere}h1,h2{margin:0 0 20px;font-size:22px;line-height:1.3;font-weight:600;text-wrap:balance}h2{margin:28px 0 8px;font-size:17px}p{margin:0 0 16px;text-wrap:pretty}
:lang(ja){word-break:auto-phrase}p:lang(ja){text-wrap:wrap}.whole{white-space:nowrap}
.action{display:inline-block;padding:12px 20px;border-radius:4px;background:#a63d22;color:#ffffff;text-decoration:none;font-weight:600}
.detail{white-space:pre-wrap}
.quiet,.quiet a{color:#6a6259;font-size:14px}.address,.address a{word-break:break-all}.end{margin-top:32px;padding-top:16px;border-top:1px solid #ddd5ca}
@media(prefers-color-scheme:dark){body{background:#1c1916;color:#efe9e1}.quiet,.quiet a{color:#aea59a}.end{border-color:#3b352f}}`;

/** Keeps a number such as ABCD-0001 in one line, since people copy it by eye when they pay by transfer. */
function whole(html: string): string {
  return html.replace(/\b[A-Z0-9]{4,}-\d{4,}\b/g, '<span class="whole">$&</span>');
}

interface Parts {
  subject: string;
  lead: string;
  detail: string;
  /** Empty: there is no button. */
  action: string;
  note: string;
  /** Empty but for mails that confirm a contract. */
  contract: readonly Paragraph[];
  signature: string;
  /** Who writes, and how to answer. */
  footer: string;
  /** The name and postal address of whoever offers the product. */
  sender: string;
  address: string;
  /** Says how to get no more mails like this one. Empty for mails that are always sent. */
  leave: string;
  leaveAddress: string;
}

function toHtml(language: LanguageCode, parts: Parts): string {
  const { contract, ...texts } = parts;
  const { subject, lead, detail, action, note, signature, footer, sender, address, leave, leaveAddress } = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, escapeHtml(text)]),
  ) as unknown as typeof texts;
  const paragraphs = contract.map(
    ({ title, text }) =>
      `${title ? `<h2 dir="auto">${escapeHtml(title)}</h2>\n` : ""}<p class="detail" dir="auto">${escapeHtml(text)}</p>\n`,
  );
  const button =
    action &&
    `<p><a class="action" href="${address}">${action}</a></p>\n<p class="quiet address"><a href="${address}">${address}</a></p>\n`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1 dir="auto">${whole(subject)}</h1>
<p>${whole(lead)}</p>
<p class="detail" dir="auto">${whole(detail)}</p>
${button}<p class="quiet">${note}</p>
${paragraphs.join("")}<p class="quiet end">${signature}<br>${footer}<br>${sender}${leave && `<br><a href="${leaveAddress}">${leave}</a>`}</p>
</main>
</body>
</html>
`;
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
    html: toHtml(language, parts),
    language,
    replyTo: answeredBy(config, mail),
    attachments: termsFile(config, mail),
    isByHand,
    unsubscribeUrl:
      unsubscribe === undefined ? undefined : new URL(`/api/notifications/unsubscribe?token=${unsubscribe}`, config.publicUrl).href,
  };
}
