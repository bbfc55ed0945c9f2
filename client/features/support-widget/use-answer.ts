import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import { languages } from "#domain/languages.ts";
import type { Model } from "#domain/models.ts";
import { modelCategories, models } from "#domain/models.ts";
import {
  annualPriceCents,
  annualSavingPercent,
  graceDays,
  moneyBackDays,
  moneyBackUsedPercent,
  packMonths,
  packs,
  planList,
  trialCredits,
  trialDays,
} from "#domain/plans.ts";
import { uploadLimits } from "#domain/rules.ts";
import { contactAddress } from "./contact-address.ts";
import type { Topic, TopicKey } from "./topics.ts";

export interface Answer {
  text: string;
  /** A name and its figure, as a price list has them. */
  rows?: readonly (readonly [string, string])[];
  link?: { href: string; label: string };
}

/** The questions the pricing page answers as well, with the number each counts in. */
const priced = {
  rollover: packMonths,
  enough: 0,
  change: 0,
  cancel: 0,
  refund: moneyBackDays,
  annual: 0,
  payment: 0,
  late: graceDays,
} as const satisfies Partial<Record<TopicKey, number>>;

function isPriced(key: TopicKey): key is keyof typeof priced {
  return key in priced;
}

const byPrice = (one: Model, other: Model) => one.credits - other.credits;
/** The cheapest of each kind: the span of prices in five lines. */
const samples = modelCategories.flatMap((category) =>
  models
    .filter((model) => model.category === category)
    .sort(byPrice)
    .slice(0, 1),
);
const trialModels = models.filter(({ size }) => size === "small");

/** Canned answers (decisions.md, "Support widget"): every figure from the catalogues, every word from the texts. */
export function useAnswer() {
  const { t } = useTranslation(["support", "common", "pricing"]);
  const format = useFormat();
  const toPricing = { href: paths.pricing, label: t("common:footer.pricing") };
  const toTeam = (message: string) => ({ href: contactAddress(message), label: t("write") });
  const priceRows = (list: readonly Model[]) => list.map((model) => [model.name, format.modelPrice(model)] as const);
  const megabytes = (size: number) => t("megabytes", { size: format.number(size) });

  function ofPricing(key: keyof typeof priced): Answer {
    const percents = { percent: format.percent(annualSavingPercent), share: format.percent(moneyBackUsedPercent) };
    return { text: t(`pricing:faq.${key}.answer`, { ...percents, count: priced[key] }), link: toPricing };
  }

  function ofTopic(key: TopicKey): Answer {
    if (isPriced(key)) return ofPricing(key);
    switch (key) {
      case "plans":
        return {
          text: t("plans.answer", { days: t("common:timeLeft.days", { count: moneyBackDays }) }),
          rows: planList.map((plan) => [
            plan.name,
            t("plans.row", { price: format.money(plan.monthlyPriceCents), credits: format.credits(plan.monthlyCredits) }),
          ]),
          link: toPricing,
        };
      case "models":
        return { text: t("models.answer"), rows: priceRows(models), link: toPricing };
      case "credits":
        return { text: t("credits.answer"), rows: priceRows(samples), link: { href: paths.about, label: t("common:navigation.about") } };
      case "trial":
        return {
          text: t("trial.answer", {
            days: t("common:timeLeft.days", { count: trialDays }),
            credits: format.credits(trialCredits),
            models: format.list(trialModels.map(({ name }) => name)),
          }),
          link: { href: paths.auth, label: t("common:trial.action") },
        };
      case "packs":
        return {
          text: t("pricing:packs.lead", { count: packMonths }),
          rows: packs.map((pack) => [format.credits(pack.credits), format.money(pack.priceCents)]),
          link: toPricing,
        };
      case "failure":
        return { text: `${t("pricing:fairness.failure.text")} ${t("pricing:fairness.stop.text")}`, link: toPricing };
      case "files":
        return {
          text: t("files.answer", {
            file: megabytes(uploadLimits.fileMegabytes),
            audio: megabytes(uploadLimits.audioMegabytes),
            formats: format.list(uploadLimits.audioFormats),
          }),
        };
      case "languages":
        return { text: t("languages.answer", { names: format.list(languages.map(({ name }) => name)) }) };
      case "human":
        return { text: t("human.answer"), link: toTeam("") };
      default:
        return { text: t("hello.answer") };
    }
  }

  return function answerTo(topic: Topic): Answer {
    switch (topic.kind) {
      case "topic":
        return ofTopic(topic.key);
      case "plan": {
        const { plan } = topic;
        const figures = {
          plan: plan.name,
          price: format.money(plan.monthlyPriceCents),
          annual: format.money(annualPriceCents(plan)),
          credits: format.credits(plan.monthlyCredits),
        };
        const speeds = [
          t("pricing:features.requests", { count: plan.requestsPerMinute }),
          t("pricing:features.concurrent", { count: plan.concurrentAnswers }),
        ];
        return { text: `${t("plan", figures)} ${format.list(speeds)}.`, link: toPricing };
      }
      case "model":
        return { text: t("model", { model: format.namedPrice(topic.model) }), link: toPricing };
      case "category":
        return {
          text: t("models.answer"),
          rows: priceRows(models.filter(({ category }) => category === topic.category)),
          link: toPricing,
        };
      default:
        return { text: t("unknown"), link: toTeam(topic.question) };
    }
  };
}
