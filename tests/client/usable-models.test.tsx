/** What the pages say can be used is what the catalogue says can be used. */
import i18next from "i18next";
import type { ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { initReactI18next } from "react-i18next";
import { beforeAll, describe, expect, it } from "vitest";
import { usePlanFeatures } from "#client/features/marketing/plan-features.ts";
import { PlanFinder } from "#client/features/marketing/plan-finder.tsx";
import { PriceTable } from "#client/features/marketing/price-table.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import { useLater } from "#client/lib/use-later.ts";
import { languages } from "#domain/languages.ts";
import { isBuilt, laterCategories, modelCategories } from "#domain/models.ts";
import { planList, plans } from "#domain/plans.ts";
import { read } from "#tests/support/sources.ts";

const namespaces = ["common", "home", "later", "plans", "pricing", "seo"] as const;

/** The parts of a language's texts that this file reads. */
interface Texts {
  home: { hero: { lead: string } };
  later: { kinds: Record<string, string>; tile: string };
  pricing: { finder: Record<"small" | "large" | "image" | "video", string> };
  seo: { home: string };
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

function Sentence() {
  return useLater().withLaterKinds("Every model.");
}

describe("the kinds of model that can't be used yet", () => {
  it.each(codes)("are not counted by the plan finder in %s", async (language) => {
    const { finder } = texts[language].pricing;
    const page = await drawn(language, <PlanFinder />);
    expect(page).toContain(`${finder.small}<`);
    expect(page).toContain(`${finder.large}<`);
    expect(page.includes(`${finder.image}<`)).toBe(!laterCategories.includes("image"));
    expect(page.includes(`${finder.video}<`)).toBe(!laterCategories.includes("video"));
  });

  it.each(codes)("are named beside every text about all models in %s", async (language) => {
    const { kinds, tile } = texts[language].later;
    const sentence = await drawn(language, <Sentence />);
    for (const category of modelCategories) {
      expect(sentence.includes(kinds[category] ?? ""), category).toBe(laterCategories.includes(category));
    }
    const models = offeredModels();
    const usable = models.filter(isBuilt).length;
    const [all] = (await drawn(language, <Features />)).split("|");
    expect(all?.match(/\d+/g)).toEqual(
      usable === models.length ? [`${usable}`] : expect.arrayContaining([`${models.length}`, `${usable}`]),
    );
    const table = await drawn(language, <PriceTable />);
    expect(table.split(`>${tile}<`)).toHaveLength(laterCategories.length + 1);
  });

  it("are those that the home page and its description name in English", () => {
    const { home, later, seo } = texts.en;
    for (const text of [home.hero.lead, seo.home]) {
      const named = / plan; (.+) not yet\./.exec(text)?.[1]?.split(/, | and /) ?? [];
      expect(named).toEqual(laterCategories.map((category) => later.kinds[category]));
    }
  });
});

it("the plan finder recommends the smallest plan for what can be used", async () => {
  const page = await drawn("en", <PlanFinder />);
  const [, total] = /You need ([\d,]+) credits a month/.exec(page) ?? [];
  const needed = Number(total?.replace(",", ""));
  const smallest = planList.find(({ monthlyCredits }) => monthlyCredits >= needed);
  expect(page).toContain(`${smallest?.name} covers it`);
});
