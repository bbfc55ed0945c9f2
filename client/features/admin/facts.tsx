import type { ReactNode } from "react";
import styles from "./facts.module.css";

interface Fact {
  label: string;
  /** Nothing is shown of a fact without a value. */
  value: ReactNode;
}

/** Names with their values, one below the other. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts
        .filter(({ value }) => value !== null && value !== undefined && value !== "")
        .map(({ label, value }) => (
          <div key={label} className={styles.fact}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
