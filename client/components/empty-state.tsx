import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

/** Stones laid so far, as column and row; the rest of the field is still only drawn. */
const laid = new Set(["0,0", "1,0", "2,0", "3,0", "0,1", "1,1", "0,2", "1,2", "2,1", "0,3"]);
const cells = Array.from({ length: 24 }, (_, index) => ({ x: index % 6, y: Math.floor(index / 6) }));

interface EmptyStateProps {
  title: string;
  children?: ReactNode;
  /** What to do about it. */
  action?: ReactNode;
}

/** Nothing here yet: an unfinished mosaic. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <svg className={styles.mosaic} viewBox="0 0 72 48" aria-hidden="true">
        {cells.map(({ x, y }) => (
          <rect
            key={`${x},${y}`}
            x={x * 12 + 1}
            y={y * 12 + 1}
            width="10"
            height="10"
            className={laid.has(`${x},${y}`) ? styles.laid : styles.open}
          />
        ))}
      </svg>
      <p className={styles.title}>{title}</p>
      {children && <div className={styles.text}>{children}</div>}
      {action && <div className={styles.action}>{action}</div>}
    </div>
  );
}
