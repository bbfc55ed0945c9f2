import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

/** The tiles that are filled, as column and row; the others are outlines. */
const laid = new Set(["0,0", "1,0", "2,0", "3,0", "0,1", "1,1", "0,2", "1,2", "2,1", "0,3"]);
const cells = Array.from({ length: 24 }, (_, index) => ({ x: index % 6, y: Math.floor(index / 6) }));

interface EmptyStateProps {
  title: string;
  children?: ReactNode;
  /** What the person can do about it. */
  action?: ReactNode;
}

/** Says that there is nothing here yet, with an unfinished mosaic. */
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
