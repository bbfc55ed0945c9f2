import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { Heading } from "#client/components/section.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { paths } from "#client/paths.ts";
import { findModel, models } from "#domain/models.ts";
import { plans } from "#domain/plans.ts";
import styles from "./price-first.module.css";

/** One of each kind, cheapest first: enough to see how prices differ. */
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
      <Receipt />
    </section>
  );
}

/** An example, its figures from the catalogue: the dearest text model on a fresh Starter month. */
function Receipt() {
  const { t } = useTranslation("home");
  const format = useFormat();
  const model = findModel("gpt-5");
  if (!model) return null;
  const granted = plans.starter.monthlyCredits;
  const lines = [
    [t("price.receipt.price"), model.credits],
    [t("price.receipt.held"), model.credits],
    [t("price.receipt.charged"), model.credits],
  ] as const;
  return (
    <figure className={styles.receipt}>
      <figcaption className={styles.receiptTitle}>{t("price.receipt.title")}</figcaption>
      <dl className={styles.lines}>
        <div className={styles.line}>
          <dt>{t("price.receipt.model")}</dt>
          <dd>{model.name}</dd>
        </div>
        {lines.map(([label, credits]) => (
          <div key={label} className={styles.line}>
            <dt>{label}</dt>
            <dd>{format.number(credits)}</dd>
          </div>
        ))}
        <div className={styles.total}>
          <dt>{t("price.receipt.balance", { credits: format.number(granted) })}</dt>
          <dd>{format.credits(granted - model.credits)}</dd>
        </div>
      </dl>
    </figure>
  );
}
