import { useTranslation } from "react-i18next";
import { classNames } from "#client/components/class-names.ts";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { fieldSize, rowsOfTiles } from "#client/components/tile-field.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { models } from "#domain/models.ts";
import { plans } from "#domain/plans.ts";
import styles from "./worked-example.module.css";

/**
 * A normal day at a small business: replies and notices with a small model, one harder text, one search. It uses only models
 * that are available today; prices and sums come from the catalogue.
 */
const times: Record<string, number> = { "gpt-5-mini": 6, "gpt-5": 1, sonar: 1 };
export const workingDays = 22;

const day = models
  .filter(({ id }) => id in times)
  .map((model) => ({ model, count: times[model.id] ?? 0, credits: (times[model.id] ?? 0) * model.credits }))
  .sort((one, other) => one.model.credits - other.model.credits);
export const spentADay = day.reduce((sum, { credits }) => sum + credits, 0);
const month = plans.starter;
const spent = workingDays * spentADay;
const columns = 25;

/** The index of each model's first tile; they are filled one model after the other. */
const laid = day.map((entry, index) => ({
  ...entry,
  from: day.slice(0, index).reduce((sum, { credits }) => sum + credits, 0),
}));

/** A month's credits as a field of tiles: one day's, those of the other working days, and the rest. */
export function WorkedExample() {
  const { t } = useTranslation(["about", "wallet"]);
  const format = useFormat();
  const { width, height } = fieldSize(month.monthlyCredits, columns);
  return (
    <figure className={styles.example}>
      <svg className={styles.field} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t("example.label")}>
        {laid.map(({ model, credits, from }) => (
          <path key={model.id} className={styles[model.category]} d={rowsOfTiles(credits, columns, from)} />
        ))}
        <path className={styles.others} d={rowsOfTiles(spent - spentADay, columns, spentADay)} />
        <path className={styles.left} d={rowsOfTiles(month.monthlyCredits - spent, columns, spent)} />
      </svg>
      <dl className={styles.lines}>
        {laid.map(({ model, count, credits }) => (
          <div key={model.id} className={styles.line}>
            <dt className={styles.model}>
              <ModelPattern modelId={model.id} category={model.category} className={styles.pattern} />
              <span>
                {format.number(count)} × {model.name}
                <span className={styles.unit}>{format.modelPrice(model)}</span>
              </span>
            </dt>
            <dd className={styles.sum}>
              <span className={classNames(styles.key, styles[`${model.category}Key`])} aria-hidden="true" />
              {format.credits(credits)}
            </dd>
          </div>
        ))}
        <div className={styles.total}>
          <dt>{t("example.total")}</dt>
          <dd>{format.credits(spentADay)}</dd>
        </div>
        <div className={styles.line}>
          <dt>{t("example.month", { count: workingDays })}</dt>
          <dd className={styles.sum}>
            <span className={classNames(styles.key, styles.othersKey)} aria-hidden="true" />
            {format.credits(spent)}
          </dd>
        </div>
        <div className={styles.rest}>
          <dt>{month.name}</dt>
          <dd>
            {t("wallet:remaining", {
              remaining: format.number(month.monthlyCredits - spent),
              credits: format.number(month.monthlyCredits),
            })}
          </dd>
        </div>
      </dl>
    </figure>
  );
}
