import { useTranslation } from "react-i18next";
import { offeredModels } from "#client/lib/offered-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { moneyBackDays } from "#domain/plans.ts";
import { claims } from "./claims.ts";
import styles from "./facts.module.css";

/** Spec §1, "Marketing claims": all of them together. */
export function Facts() {
  const { t } = useTranslation(["home", "common"]);
  const format = useFormat();
  const facts = [
    [`${format.number(Math.min(claims.models, offeredModels().length))}+`, t("facts.models")],
    [format.days(moneyBackDays), t("facts.guarantee")],
    [format.percent(claims.savingPercent), t("facts.saving")],
    [format.percent(claims.fasterPercent), t("facts.faster")],
    [format.percent(claims.uptimePercent), t("facts.uptime")],
  ] as const;
  return (
    <section className={styles.section} aria-label={t("facts.title")}>
      <ul className={styles.facts}>
        {facts.map(([figure, text]) => (
          <li key={text} className={styles.fact}>
            <span className={styles.figure}>{figure}</span>
            <span className={styles.text}>{text}</span>
          </li>
        ))}
      </ul>
      <p className={styles.people}>
        {t("facts.people", {
          developers: format.number(claims.developers),
          businesses: format.number(claims.businesses),
          countries: format.number(claims.countries),
        })}
      </p>
    </section>
  );
}
