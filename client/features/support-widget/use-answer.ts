import i18next from "i18next";
import { useTranslation } from "react-i18next";
import { offeredModels } from "#client/lib/offered-models.ts";
import { trialPath } from "#client/lib/trial-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import { languages } from "#domain/languages.ts";
import { isInTrial } from "#domain/models.ts";
import { annualSavingPercent, graceDays, moneyBackDays, moneyBackUsedPercent, packMonths, trialCredits, trialDays } from "#domain/plans.ts";
import { uploadLimits } from "#domain/rules.ts";
import type { Answer } from "./answer.ts";
import { contactAddress } from "./contact-address.ts";
import type { Topic, TopicKey } from "./topics.ts";
import { usePriceAnswers } from "./use-price-answers.ts";

/** Questions that the pricing page answers too, with the number used for the plural. */
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

type PricedKey = keyof typeof priced;
type WordKey = Exclude<TopicKey, PricedKey | "plans" | "models" | "credits" | "packs">;

function isPriced(key: TopicKey): key is PricedKey {
  return key in priced;
}

function trialModels(): string[] {
  return offeredModels()
    .filter(isInTrial)
    .map(({ name }) => name);
}

/** Answers of one or two sentences, with the numbers of the rules. */
function useWordAnswers() {
  const { t } = useTranslation(["support", "common", "pricing"]);
  const format = useFormat();
  const link = { href: paths.pricing, label: t("common:footer.pricing") };
  const megabytes = (size: number) => t("megabytes", { size: format.number(size) });
  const percents = { percent: format.percent(annualSavingPercent), share: format.percent(moneyBackUsedPercent) };

  const answers: Record<WordKey, () => Answer> = {
    trial: () => {
      const days = format.days(trialDays);
      return {
        text: t("trial.answer", { days, credits: format.credits(trialCredits), models: format.list(trialModels()) }),
        link: { href: trialPath, label: i18next.t("action", { ns: "trial" }) },
      };
    },
    failure: () => ({ text: `${t("pricing:fairness.failure.text")} ${t("pricing:fairness.stop.text")}`, link }),
    files: () => ({
      text: t("files.answer", {
        file: megabytes(uploadLimits.fileMegabytes),
        audio: megabytes(uploadLimits.audioMegabytes),
        formats: format.list(uploadLimits.audioFormats),
      }),
    }),
    languages: () => ({ text: t("languages.answer", { names: format.list(languages.map(({ name }) => name)) }) }),
    human: () => ({ text: t("human.answer"), link: { href: contactAddress(""), label: t("write") } }),
    hello: () => ({ text: t("hello.answer") }),
  };
  return {
    answers,
    ofPricing: (key: PricedKey): Answer => ({ text: t(`pricing:faq.${key}.answer`, { ...percents, count: priced[key] }), link }),
    unknown: (question: string): Answer => ({ text: t("unknown"), link: { href: contactAddress(question), label: t("write") } }),
  };
}

/** The prepared answers: numbers come from the catalogues, words from the texts. */
export function useAnswer(): (topic: Topic) => Answer {
  const prices = usePriceAnswers();
  const words = useWordAnswers();

  function ofTopic(key: TopicKey): Answer {
    if (isPriced(key)) return words.ofPricing(key);
    if (key === "plans" || key === "models" || key === "credits" || key === "packs") return prices[key]();
    return words.answers[key]();
  }

  return (topic) => {
    switch (topic.kind) {
      case "topic":
        return ofTopic(topic.key);
      case "plan":
        return prices.plan(topic.plan);
      case "model":
        return prices.model(topic.model);
      case "category":
        return prices.category(topic.category);
      default:
        return words.unknown(topic.question);
    }
  };
}
