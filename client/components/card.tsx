import type { HTMLAttributes } from "react";
import styles from "./card.module.css";
import { classNames } from "./class-names.ts";

interface CardProps extends HTMLAttributes<HTMLElement> {
  as?: "div" | "section" | "article" | "li";
  /** One card in a row may stand out. */
  marked?: boolean;
}

/** A sheet of paper with a hairline round it. */
export function Card({ as: Element = "div", marked = false, className, ...rest }: CardProps) {
  return <Element {...rest} className={classNames(styles.card, marked && styles.marked, className)} />;
}
