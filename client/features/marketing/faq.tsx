import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { annualSavingPercent, graceDays, moneyBackDays } from "#domain/plans.ts";
import styles from "./faq.module.css";

const questions = ["rollover", "enough", "change", "cancel", "refund", "annual", "payment", "late"] as const;

export function Faq() {
  const { t } = useTranslation("pricing");
  const format = useFormat();
  const figures = { days: moneyBackDays, percent: format.percent(annualSavingPercent), count: graceDays };
  return (
    <div className={styles.faq}>
      {questions.map((question) => (
        <details key={question} className={styles.item}>
          <summary className={styles.question}>{t(`faq.${question}.question`)}</summary>
          <p className={styles.answer}>{t(`faq.${question}.answer`, figures)}</p>
        </details>
      ))}
    </div>
  );
}
