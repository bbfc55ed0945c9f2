import type { ReactNode } from "react";
import styles from "./chart-colours.module.css";
import { classNames } from "./class-names.ts";

/** Around a chart and its table: what stands for a series has the same colour in both. */
export function ChartColours({ className, children }: { className?: string | undefined; children: ReactNode }) {
  return <div className={classNames(styles.colours, className)}>{children}</div>;
}

/** The square that stands for a series, by its place among the five that have a colour. */
export function ChartColour({ place }: { place: number }) {
  return <span className={styles.colour} data-place={place} />;
}

/** Keeps a chart's place until it is fetched. */
export function ChartRoom() {
  return <div className={styles.room} />;
}
