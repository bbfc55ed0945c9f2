import type { TFunction } from "i18next";
import type { LanguageCode } from "#domain/languages.ts";
import { withdrawalDays } from "#domain/plans.ts";
import { withdrawalUntil } from "#domain/refunds.ts";
import { instant, timeFormat } from "./formats.ts";
import type { MailConfig, MailContent } from "./targets.ts";
import type { MailTemplate } from "./templates.ts";
import { hasTerms } from "./terms.ts";

const confirming: readonly string[] = ["subscription-started", "pack-bought"] satisfies MailTemplate[];

/** A paragraph, perhaps with a heading. */
export interface Paragraph {
  title?: string;
  text: string;
}

/**
 * What a confirmed contract has to say in the mail itself, a durable medium: what was agreed to, and the right of withdrawal with the model form
 * (Directive 2011/83/EU, articles 6(1)(h), 8(7) and annex I). Nothing for mails that the previous release queued.
 */
export function contractTerms(
  t: TFunction,
  config: MailConfig,
  language: LanguageCode,
  { template, parameters }: MailContent,
): Paragraph[] {
  const { concludedAt, consentedAt, termsVersion } = parameters;
  const isOrdered = template === "transfer-invoice" && consentedAt !== undefined;
  if (!isOrdered && (!confirming.includes(template) || concludedAt === undefined)) return [];
  const day = (value: Date | string | number) => instant(language, new Date(value).toISOString(), { dateStyle: "long" });
  const words = {
    ordered: instant(language, consentedAt, timeFormat),
    version: termsVersion === undefined ? undefined : day(termsVersion),
    terms: new URL("/terms", config.publicUrl).href,
    days: withdrawalDays,
    until: concludedAt === undefined ? "" : day(withdrawalUntil(new Date(concludedAt))),
    concluded: concludedAt === undefined ? "" : day(concludedAt),
    place: new URL("/profile/billing#withdrawal", config.publicUrl).href,
    site: config.publicUrl.host,
    contact: config.contactEmail,
    postalAddress: config.postalAddress,
  };
  const text = (name: string) => t(`contract.${name}`, words);
  const attached = hasTerms(parameters) ? `\n${t("termsAttached")}` : "";
  const order = { title: text("title"), text: text(consentedAt === undefined ? "terms" : "ordered") + attached };
  // The contract comes about with the first transfer. The mail of its arrival has the notice about withdrawing.
  if (isOrdered) return [order];
  return [
    order,
    { title: text("withdrawal"), text: text("right") },
    { text: text("how") },
    { text: text("effect") },
    { title: text("formTitle"), text: text("form") },
  ];
}
