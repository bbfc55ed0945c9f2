import styles from "./coded.module.css";

/** A word, and beside it the name that the code has for the thing: technicians search for it. */
export function Coded({ word, code }: { word: string; code: string }) {
  return (
    <span className={styles.coded}>
      {word} {word !== code && <code className={styles.code}>{code}</code>}
    </span>
  );
}
