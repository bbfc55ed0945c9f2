import type { ReactNode } from "react";
import { useId } from "react";
import styles from "./person.module.css";

/** A part of a person's page, under its heading. */
export function Block({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className={styles.block} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
