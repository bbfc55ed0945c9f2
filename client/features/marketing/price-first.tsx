import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { Heading } from "#client/components/section.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import { models } from "#domain/models.ts";
import styles from "./price-first.module.css";

/** One model of each kind, the cheapest first, to show how prices differ. */
const shown = models.filter((model) => ["gpt-5-mini", "whisper-1", "gpt-5", "dall-e-3", "sora-2"].includes(model.id));
const inOrder = [...shown].sort((one, other) => one.credits - other.credits);

export function PriceFirst() {
  const { t } = useTranslation("home");
  const format = useFormat();
  return (
    <section className={styles.section} aria-labelledby="price-first">
      <Heading as="h2" id="price-first" title={t("price.title")} lead={t("price.lead")} />
      <ul className={styles.list} aria-label={t("price.list")}>
        {inOrder.map((model) => (
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
          <Link href={`${paths.pricing}#prices`}>{t("price.all", { count: models.length })}</Link>
        </li>
      </ul>
    </section>
  );
}
