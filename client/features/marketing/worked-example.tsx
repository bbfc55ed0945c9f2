import { useTranslation } from "react-i18next";
import { classNames } from "#client/components/class-names.ts";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { fieldSize, rowsOfTiles } from "#client/components/tile-field.ts";
import { firstModel } from "#client/lib/offered-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { plans } from "#domain/plans.ts";
import styles from "./worked-example.module.css";

/**
 * A normal day at a small business: replies and notices with a small model, one harder text, one search. It uses only models
 * that are available today; prices and sums come from the catalogue.
 */
const times = [
  { model: { size: "small" }, count: 6 },
  { model: { category: "search" }, count: 1 },
  { model: { size: "large" }, count: 1 },
] as const;
export const workingDays = 22;

const month = plans.starter;
const columns = 25;

/** The day's models with what they cost, and the index of each one's first tile; they are filled one model after the other. */
export function exampleDay() {
  let from = 0;
  return times.flatMap(({ model: wanted, count }) => {
    const model = firstModel(wanted);
    if (!model) return [];
    const credits = count * model.credits;
    from += credits;
    return [{ model, count, credits, from: from - credits }];
  });
}

/** A month's credits as a field of tiles: one day's, those of the other working days, and the rest. */
export function WorkedExample() {
  const { t } = useTranslation(["about", "wallet"]);
  const format = useFormat();
  const laid = exampleDay();
  const spentADay = laid.reduce((sum, { credits }) => sum + credits, 0);
  const spent = workingDays * spentADay;
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
