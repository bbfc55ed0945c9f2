/** What the pages say can be used is what the catalogue says can be used. */
import i18next from "i18next";
import type { ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { initReactI18next } from "react-i18next";
import { beforeAll, expect, it } from "vitest";
import { usePlanFeatures } from "#client/features/marketing/plan-features.ts";
import { PlanFinder } from "#client/features/marketing/plan-finder.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import { languages } from "#domain/languages.ts";
import { planList, plans } from "#domain/plans.ts";
import { read } from "#tests/support/sources.ts";

const namespaces = ["common", "plans", "pricing"] as const;

/** The parts of a language's texts that this file reads. */
interface Texts {
  pricing: { finder: Record<"small" | "large" | "image" | "video", string> };
}

function textsOf(language: string): Texts {
  const entries = namespaces.map((name) => [name, JSON.parse(read(`client/i18n/locales/${language}/${name}.json`))]);
  return Object.fromEntries(entries) as Texts;
}

const codes = languages.map(({ code }) => code);
const texts = Object.fromEntries(codes.map((code) => [code, textsOf(code)])) as Record<(typeof codes)[number], Texts>;

beforeAll(async () => {
  const resources = texts as unknown as Record<string, Record<string, Record<string, unknown>>>;
  await i18next.use(initReactI18next).init({ resources, ns: namespaces, fallbackLng: "en", interpolation: { escapeValue: false } });
});

async function drawn(language: string, part: ReactElement): Promise<string> {
  await i18next.changeLanguage(language);
  return renderToStaticMarkup(part);
}

function Features() {
  return usePlanFeatures(plans.basic).join("|");
}

it.each(codes)("the plan finder counts every kind, and a plan's card all models in %s", async (language) => {
  const { finder } = texts[language].pricing;
  const page = await drawn(language, <PlanFinder />);
  for (const kind of ["small", "large", "image", "video"] as const) expect(page).toContain(`${finder[kind]}<`);
  const [all] = (await drawn(language, <Features />)).split("|");
  expect(all?.match(/\d+/g)).toEqual([`${offeredModels().length}`]);
});

it("the plan finder recommends the smallest plan for what can be used", async () => {
  const page = await drawn("en", <PlanFinder />);
  const [, total] = /You need ([\d,]+) credits a month/.exec(page) ?? [];
  const needed = Number(total?.replace(",", ""));
  const smallest = planList.find(({ monthlyCredits }) => monthlyCredits >= needed);
  expect(page).toContain(`${smallest?.name} covers it`);
});
