import { useTranslation } from "react-i18next";
import { currentModel, offeredModels } from "#client/lib/offered-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { joinSentences, useLater } from "#client/lib/use-later.ts";
import { paths } from "#client/paths.ts";
import type { Model, ModelCategory } from "#domain/models.ts";
import { isBuilt, laterCategories, modelCategories } from "#domain/models.ts";
import type { Plan } from "#domain/plans.ts";
import { annualPriceCents, moneyBackDays, packMonths, packs, planList } from "#domain/plans.ts";
import type { Answer } from "./answer.ts";

const byPrice = (one: Model, other: Model) => one.credits - other.credits;
const ofCategory = (category: ModelCategory) => offeredModels().filter((model) => model.category === category);
/** The cheapest model of each kind, to show the range of prices in five lines. */
const samples = () => modelCategories.flatMap((category) => ofCategory(category).sort(byPrice).slice(0, 1));

/** Answers that come from the price list. */
export function usePriceAnswers() {
  const { t, i18n } = useTranslation(["support", "common", "pricing", "plans"]);
  const format = useFormat();
  const { laterModel, withLaterKinds } = useLater();
  const link = { href: paths.pricing, label: t("common:footer.pricing") };
  const priceRows = (list: readonly Model[]) => list.map((model) => [model.name, format.modelPrice(model)] as const);
  const planRow = ({ name, monthlyPriceCents, monthlyCredits }: Plan) =>
    [name, t("plans.row", { price: format.money(monthlyPriceCents), credits: format.credits(monthlyCredits) })] as const;

  return {
    plans: (): Answer => {
      const days = t("common:timeLeft.days", { count: moneyBackDays });
      return { text: withLaterKinds(t("plans.answer", { days })), rows: planList.map(planRow), link };
    },
    plan: (plan: Plan): Answer => {
      const speeds = [
        t("plans:features.requests", { count: plan.requestsPerMinute }),
        t("plans:features.concurrent", { count: plan.concurrentAnswers }),
      ];
      const text = t("plan", {
        plan: plan.name,
        price: format.money(plan.monthlyPriceCents),
        annual: format.money(annualPriceCents(plan)),
        credits: format.credits(plan.monthlyCredits),
        speeds: format.list(speeds),
      });
      return { text, link };
    },
    models: (): Answer => ({ text: withLaterKinds(t("models.answer")), rows: priceRows(offeredModels()), link }),
    model: (named: Model): Answer => {
      const model = currentModel(named.id) ?? named;
      const text = t("model", { model: format.namedPrice(model) });
      return { text: isBuilt(model) ? text : joinSentences([laterModel(model.name), text], i18n.language), link };
    },
    category: (category: ModelCategory): Answer => {
      const text = t("models.answer");
      return { text: laterCategories.includes(category) ? withLaterKinds(text) : text, rows: priceRows(ofCategory(category)), link };
    },
    credits: (): Answer => ({
      text: t("credits.answer"),
      rows: priceRows(samples()),
      link: { href: paths.about, label: t("common:navigation.about") },
    }),
    packs: (): Answer => ({
      text: `${t("pricing:packs.lead", { count: packMonths })} ${t("pricing:packs.note")}`,
      rows: packs.map((pack) => [format.credits(pack.credits), format.money(pack.priceCents)]),
      link,
    }),
  };
}
