import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { Heading } from "#client/components/section.tsx";
import { firstModel, offeredModels } from "#client/lib/offered-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import styles from "./price-first.module.css";

/** One model of each price class, the cheapest first, to show how prices differ. */
const classes = [{ size: "small" }, { unit: "minute" }, { size: "large" }, { category: "image" }, { category: "video" }] as const;

export function PriceFirst() {
  const { t } = useTranslation("home");
  const format = useFormat();
  const shown = classes.map(firstModel).filter((model) => model !== undefined);
  return (
    <section className={styles.section} aria-labelledby="price-first">
      <Heading as="h2" id="price-first" title={t("price.title")} lead={t("price.lead")} />
      <ul className={styles.list} aria-label={t("price.list")}>
        {shown.map((model) => (
          <li key={model.id} className={styles.row}>
            <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
            <span className={styles.name}>
              {model.name}
              <span className={styles.unit}>{format.modelPrice(model)}</span>
            </span>
            <PriceTiles credits={model.credits} />
          </li>
        ))}
        <li className={styles.all}>
          <Link href={`${paths.pricing}#prices`}>{t("price.all", { count: offeredModels().length })}</Link>
        </li>
      </ul>
    </section>
  );
}
