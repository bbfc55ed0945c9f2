/**
 * The terms as a file that goes with each mail that confirms an order. A page can change; what somebody accepted has to reach them on something that
 * they can keep (Directive 2011/83/EU, article 8(7)). `terms/` has each version since 2026-11-27 as the page had it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dayMs } from "#domain/clock.ts";
import { deletionMs } from "#domain/periods.ts";
import {
  annualPriceCents,
  graceDays,
  moneyBackDays,
  moneyBackUsedPercent,
  packMonths,
  planList,
  renewalOverlapHours,
  trialCredits,
  trialDays,
  withdrawalDays,
} from "#domain/plans.ts";
import type { MailedFile } from "../../providers/mail.ts";
import { money } from "./formats.ts";
import type { MailConfig, MailContent } from "./targets.ts";

const folder = new URL("./terms/", import.meta.url);
/** By their day. */
const versions = new Map(
  readdirSync(folder).map((file) => [file.replace(/\.md$/, ""), readFileSync(new URL(file, folder), "utf8")] as const),
);

const written = (value: number, options: Intl.NumberFormatOptions = {}) => new Intl.NumberFormat("en", options).format(value);

/** The numbers that the terms name, as the page writes them (client/content/figures.ts). */
const figures = new Map<string, string>([
  ...planList.flatMap((plan) => [
    [`price:${plan.key}`, money("en", plan.monthlyPriceCents) ?? ""] as const,
    [`annual:${plan.key}`, money("en", annualPriceCents(plan)) ?? ""] as const,
    [`credits:${plan.key}`, written(plan.monthlyCredits)] as const,
    [`perMinute:${plan.key}`, written(plan.requestsPerMinute)] as const,
    [`atOnce:${plan.key}`, written(plan.concurrentAnswers)] as const,
  ]),
  ["trialDays", written(trialDays)],
  ["trialCredits", written(trialCredits)],
  ["refundDays", written(moneyBackDays)],
  ["withdrawalDays", written(withdrawalDays)],
  ["moneyBackUsed", written(moneyBackUsedPercent / 100, { style: "percent" })],
  ["graceDays", written(graceDays)],
  ["packMonths", written(packMonths)],
  ["renewalOverlapHours", written(renewalOverlapHours)],
  ["kept:deletion", written(deletionMs / dayMs, { style: "unit", unit: "day", unitDisplay: "long" })],
]);

/** The Markdown as plain text: links name their address, headings are in capitals. */
function toPlain(markdown: string, publicUrl: URL): string {
  const [, head = "", body = ""] = /^---\n(.*?)\n---\n(.*)$/s.exec(markdown) ?? [];
  const title = /^title: (.*)$/m.exec(head)?.[1] ?? "";
  const text = body
    .replace(/\{\{([^{}]*)\}\}/g, (_whole, name: string) => {
      const figure = figures.get(name);
      if (figure === undefined) throw new Error(`the terms name an unknown figure: ${name}`);
      return figure;
    })
    .replace(/\[([^\]]*)\]\((\/[^)]*)\)/g, (_whole, words: string, path: string) => `${words} (${new URL(path, publicUrl).href})`)
    .replaceAll("**", "")
    .replace(/^## (.*)$/gm, (_whole, heading: string) => heading.toUpperCase());
  return `${title.toUpperCase()}\n${text}`;
}

/** Whether the mail confirms an order whose version of the terms is here. */
export function hasTerms({ consentedAt, termsVersion }: MailContent["parameters"]): boolean {
  return consentedAt !== undefined && versions.has(String(termsVersion));
}

/** What is attached to the mail: the terms that were accepted, if it confirms an order. */
export function termsFile({ publicUrl }: Pick<MailConfig, "publicUrl">, { parameters }: Pick<MailContent, "parameters">): MailedFile[] {
  const version = String(parameters.termsVersion);
  const terms = versions.get(version);
  if (!hasTerms(parameters) || terms === undefined) return [];
  return [{ name: `terms-${version}.txt`, text: `${publicUrl.host}, version of ${version}\n\n${toPlain(terms, publicUrl)}` }];
}
