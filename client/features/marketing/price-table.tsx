import { useTranslation } from "react-i18next";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { offeredModels } from "#client/lib/offered-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { modelCategories } from "#domain/models.ts";
import { planList } from "#domain/plans.ts";
import styles from "./price-table.module.css";

/** Every model's price, and how often each plan covers it. Generated from the catalogue. */
export function PriceTable() {
  const { t } = useTranslation(["pricing", "common"]);
  const format = useFormat();
  return (
    <table className={styles.table}>
      <caption className={styles.caption}>{t("table.caption")}</caption>
      <thead>
        <tr>
          <th scope="col">{t("table.model")}</th>
          <th scope="col">{t("table.price")}</th>
          {planList.map((plan) => (
            <th key={plan.key} scope="col" className={styles.number}>
              {plan.name}
              <span className={styles.credits}>{format.credits(plan.monthlyCredits)}</span>
            </th>
          ))}
        </tr>
      </thead>
      {modelCategories.map((category) => (
        <tbody key={category}>
          <tr className={styles.group}>
            <th scope="rowgroup" colSpan={2 + planList.length}>
              {t(`common:model.category.${category}`)}
            </th>
          </tr>
          {offeredModels()
            .filter((model) => model.category === category)
            .map((model) => (
              <tr key={model.id} className={styles.row}>
                <th scope="row" className={styles.model}>
                  <span className={styles.name}>
                    <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
                    {model.name}
                  </span>
                </th>
                <td className={styles.price}>
                  <PriceTiles credits={model.credits} />
                  <span>{format.modelPrice(model)}</span>
                </td>
                {planList.map((plan) => (
                  <td key={plan.key} className={styles.number} data-plan={plan.name}>
                    {format.number(Math.floor(plan.monthlyCredits / model.credits))}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      ))}
    </table>
  );
}
