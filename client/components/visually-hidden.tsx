import type { ReactNode } from "react";
import styles from "./visually-hidden.module.css";

/** Text for those who listen instead of look. */
export function VisuallyHidden({ as: Element = "span", children }: { as?: "span" | "p" | "h1" | "h2" | "h3"; children: ReactNode }) {
  return <Element className={styles.hidden}>{children}</Element>;
}
