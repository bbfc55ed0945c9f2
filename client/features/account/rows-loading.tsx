import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import styles from "./account.module.css";

/** Holds the place of rows that are being read, in their height. */
export function RowsLoading({ label, rows }: { label: string; rows: number }) {
  return (
    <div role="status">
      <VisuallyHidden>{label}</VisuallyHidden>
      <div className={styles.rows} aria-hidden="true">
        {Array.from({ length: rows }, (_, index) => index).map((row) => (
          <div key={row} className={styles.row}>
            <div className={styles.waiting}>
              <p className={styles.what}>
                <span>&nbsp;</span>
              </p>
              <p className={styles.detail}>
                <span>&nbsp;</span>
              </p>
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}
