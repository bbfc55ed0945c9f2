import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { annualSavingPercent, graceDays, moneyBackDays, moneyBackUsedPercent, packMonths } from "#domain/plans.ts";
import styles from "./faq.module.css";

const questions = ["rollover", "enough", "change", "cancel", "refund", "annual", "payment", "late"] as const;

/** The number with which an answer's text is pluralised. */
const counts: Partial<Record<(typeof questions)[number], number>> = { rollover: packMonths, refund: moneyBackDays, late: graceDays };

/** Questions and answers with numbers from the catalogue, for the page and for the structured data. */
export function useFaq(): { key: string; question: string; answer: string }[] {
  const { t } = useTranslation("pricing");
  const format = useFormat();
  const figures = { percent: format.percent(annualSavingPercent), share: format.percent(moneyBackUsedPercent) };
  return questions.map((key) => ({
    key,
    question: t(`faq.${key}.question`),
    answer: t(`faq.${key}.answer`, { ...figures, count: counts[key] ?? 0 }),
  }));
}

export function Faq() {
  return (
    <div className={styles.faq}>
      {useFaq().map(({ key, question, answer }) => (
        <details key={key} className={styles.item}>
          <summary className={styles.question}>{question}</summary>
          <p className={styles.answer}>{answer}</p>
        </details>
      ))}
    </div>
  );
}
