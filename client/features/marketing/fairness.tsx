import { useTranslation } from "react-i18next";
import styles from "./fairness.module.css";

const rules = ["fixed", "failure", "stop", "lost"] as const;

/** Explains the fairness rule: which answers are charged (server/features/generations/running-answer.ts). */
export function Fairness() {
  const { t } = useTranslation("pricing");
  return (
    <ol className={styles.rules}>
      {rules.map((rule) => (
        <li key={rule} className={styles.rule}>
          <h3 className={styles.title}>{t(`fairness.${rule}.title`)}</h3>
          <p className={styles.text}>{t(`fairness.${rule}.text`)}</p>
        </li>
      ))}
    </ol>
  );
}
