import type { ReactNode } from "react";
import styles from "./badge.module.css";
import { classNames } from "./class-names.ts";

export type Tone = "neutral" | "accent" | "good" | "warning" | "danger";

export function Badge({ tone = "neutral", className, children }: { tone?: Tone; className?: string; children: ReactNode }) {
  return <span className={classNames(styles.badge, styles[tone], className)}>{children}</span>;
}
