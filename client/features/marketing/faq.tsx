import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { annualSavingPercent, graceDays, moneyBackDays, moneyBackUsedPercent, packMonths } from "#domain/plans.ts";
import styles from "./faq.module.css";

const questions = ["rollover", "enough", "change", "cancel", "refund", "annual", "payment", "late"] as const;

/** The number an answer counts in. */
const counts: Partial<Record<(typeof questions)[number], number>> = { rollover: packMonths, refund: moneyBackDays, late: graceDays };

export function Faq() {
  const { t } = useTranslation("pricing");
  const format = useFormat();
  const figures = { percent: format.percent(annualSavingPercent), share: format.percent(moneyBackUsedPercent) };
  return (
    <div className={styles.faq}>
      {questions.map((question) => (
        <details key={question} className={styles.item}>
          <summary className={styles.question}>{t(`faq.${question}.question`)}</summary>
          <p className={styles.answer}>{t(`faq.${question}.answer`, { ...figures, count: counts[question] ?? 0 })}</p>
        </details>
      ))}
    </div>
  );
}
