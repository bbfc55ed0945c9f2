import type { HTMLAttributes } from "react";
import styles from "./card.module.css";
import { classNames } from "./class-names.ts";

interface CardProps extends HTMLAttributes<HTMLElement> {
  as?: "div" | "section" | "article" | "li";
  /** Highlights one card in a row. */
  marked?: boolean;
}

/** A surface with a thin border. */
export function Card({ as: Element = "div", marked = false, className, ...rest }: CardProps) {
  return <Element {...rest} className={classNames(styles.card, marked && styles.marked, className)} />;
}
