import type { ReactNode } from "react";
import styles from "./section.module.css";

interface HeadingProps {
  /** A page has one `h1`. */
  as: "h1" | "h2";
  id?: string;
  title: string;
  lead?: string | undefined;
}

/** A heading with one or two sentences about the section. */
export function Heading({ as: Level, id, title, lead }: HeadingProps) {
  return (
    <div className={styles.heading}>
      <Level id={id}>{title}</Level>
      {lead && <p className={styles.lead}>{lead}</p>}
    </div>
  );
}

interface SectionProps {
  /** The id for links to the section; unique on the page. */
  id: string;
  title: string;
  lead?: string;
  children?: ReactNode;
}

/** A section of a page, labelled by its heading. */
export function Section({ id, title, lead, children }: SectionProps) {
  return (
    <section id={id} className={styles.section} aria-labelledby={`${id}-heading`}>
      <Heading as="h2" id={`${id}-heading`} title={title} lead={lead} />
      {children}
    </section>
  );
}
