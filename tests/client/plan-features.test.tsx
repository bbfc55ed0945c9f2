/** What the plans' cards list. */
import i18next from "i18next";
import { renderToStaticMarkup } from "react-dom/server";
import { initReactI18next } from "react-i18next";
import { beforeAll, expect, it } from "vitest";
import { usePlanFeatures } from "#client/features/marketing/plan-features.ts";
import common from "#client/i18n/locales/en/common.json" with { type: "json" };
import plansTexts from "#client/i18n/locales/en/plans.json" with { type: "json" };
import type { Plan } from "#domain/plans.ts";
import { planList } from "#domain/plans.ts";

beforeAll(async () => {
  const resources = { en: { common, plans: plansTexts } };
  await i18next.use(initReactI18next).init({ resources, lng: "en", interpolation: { escapeValue: false } });
});

function Features({ plan }: { plan: Plan }) {
  return usePlanFeatures(plan).join("|");
}
const featuresOf = (plan: Plan) => renderToStaticMarkup(<Features plan={plan} />).split("|");
const centsPerCredit = ({ monthlyPriceCents, monthlyCredits }: Plan) => monthlyPriceCents / monthlyCredits;

it("each card says how much room for files the plan has", () => {
  expect(planList.map((plan) => featuresOf(plan)[3])).toEqual(["1 GB for files", "3 GB for files", "5 GB for files", "20 GB for files"]);
});

it("a credit never costs more in a larger plan without the card listing all that the smaller one has, and more", () => {
  const steps = planList.slice(1).map((larger, index) => [planList[index] as Plan, larger] as const);
  const dearer = steps.filter(([smaller, larger]) => centsPerCredit(larger) > centsPerCredit(smaller));
  expect(dearer.map(([, { key }]) => key)).toContain("enterprise");
  for (const [smaller, larger] of dearer) {
    const [models, , , , ...notes] = featuresOf(smaller);
    const listed = featuresOf(larger);
    for (const feature of [models, ...notes]) expect(listed, `${larger.name} after ${smaller.name}`).toContain(feature);
    expect(larger.requestsPerMinute).toBeGreaterThan(smaller.requestsPerMinute);
    expect(larger.concurrentAnswers).toBeGreaterThan(smaller.concurrentAnswers);
  }
  const [professional, enterprise] = planList.slice(2).map(featuresOf);
  expect(enterprise?.slice(4, professional?.length)).toEqual(professional?.slice(4));
  expect(enterprise?.slice(professional?.length)).toEqual([
    plansTexts.features.alwaysSupport,
    plansTexts.features.customTuning,
    plansTexts.features.dedicatedManager,
  ]);
});
