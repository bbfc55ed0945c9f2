import styles from "./mark.module.css";

/** The logo: nine tiles with a highlighted one in the corner. scripts/make-icons.ts draws the same figure. */
export function Mark() {
  return (
    <svg className={styles.mark} viewBox="0 0 29 29" aria-hidden="true">
      <path d="M0 0h9v9H0zM10 0h9v9h-9zM20 0h9v9h-9zM10 10h9v9h-9zM10 20h9v9h-9z" />
      <path className={styles.bright} d="M20 20h9v9h-9z" />
    </svg>
  );
}
