import type { ReactNode } from "react";
import styles from "./visually-hidden.module.css";

interface VisuallyHiddenProps {
  as?: "span" | "p" | "h1" | "h2" | "h3" | "legend";
  children: ReactNode;
}

/** Text only for screen readers. */
export function VisuallyHidden({ as: Element = "span", children }: VisuallyHiddenProps) {
  return <Element className={styles.hidden}>{children}</Element>;
}
