import type { ReactNode } from "react";
import styles from "./section.module.css";

interface HeadingProps {
  /** `h1` once a page. */
  as: "h1" | "h2";
  id?: string;
  title: string;
  lead?: string | undefined;
}

/** A heading, and the sentence or two that say what stands below it. */
export function Heading({ as: Level, id, title, lead }: HeadingProps) {
  return (
    <div className={styles.heading}>
      <Level id={id}>{title}</Level>
      {lead && <p className={styles.lead}>{lead}</p>}
    </div>
  );
}

interface SectionProps {
  /** What a link to the section ends in; unique on the page. */
  id: string;
  title: string;
  lead?: string;
  children?: ReactNode;
}

/** A part of a page, named by its heading. */
export function Section({ id, title, lead, children }: SectionProps) {
  return (
    <section id={id} className={styles.section} aria-labelledby={`${id}-heading`}>
      <Heading as="h2" id={`${id}-heading`} title={title} lead={lead} />
      {children}
    </section>
  );
}
