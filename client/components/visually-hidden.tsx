import type { ReactNode } from "react";
import styles from "./visually-hidden.module.css";

/** Text only for screen readers. */
export function VisuallyHidden({ as: Element = "span", children }: { as?: "span" | "p" | "h1" | "h2" | "h3"; children: ReactNode }) {
  return <Element className={styles.hidden}>{children}</Element>;
}
