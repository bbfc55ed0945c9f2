import { useTranslation } from "react-i18next";
import { currentModel, offeredModels } from "#client/lib/offered-models.ts";
import type { KnownModel } from "#client/lib/shown-edition.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import type { ModelCategory } from "#domain/models.ts";
import { modelCategories } from "#domain/models.ts";
import type { Plan } from "#domain/plans.ts";
import { annualPriceCents, moneyBackDays, packMonths, packs, planList } from "#domain/plans.ts";
import type { Answer } from "./answer.ts";

const byPrice = (one: KnownModel, other: KnownModel) => one.credits - other.credits;
const ofCategory = (category: ModelCategory) => offeredModels().filter((model) => model.category === category);
/** The cheapest model of each kind, to show the range of prices in five lines. */
const samples = () => modelCategories.flatMap((category) => ofCategory(category).sort(byPrice).slice(0, 1));

/** Answers that come from the price list. */
export function usePriceAnswers() {
  const { t } = useTranslation(["support", "common", "pricing", "plans"]);
  const format = useFormat();
  const link = { href: paths.pricing, label: t("common:footer.pricing") };
  const priceRows = (list: readonly KnownModel[]) => list.map((model) => [model.name, format.modelPrice(model)] as const);
  const planRow = ({ name, monthlyPriceCents, monthlyCredits }: Plan) =>
    [name, t("plans.row", { price: format.money(monthlyPriceCents), credits: format.credits(monthlyCredits) })] as const;

  return {
    plans: (): Answer => {
      const days = format.days(moneyBackDays);
      return { text: t("plans.answer", { days }), rows: planList.map(planRow), link };
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
    models: (): Answer => ({ text: t("models.answer"), rows: priceRows(offeredModels()), link }),
    model: (named: KnownModel): Answer => {
      const model = currentModel(named.id) ?? named;
      return { text: t("model", { model: format.namedPrice(model) }), link };
    },
    category: (category: ModelCategory): Answer => ({ text: t("models.answer"), rows: priceRows(ofCategory(category)), link }),
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
