import type { ReactNode, Ref } from "react";
import styles from "./panel.module.css";

interface PanelProps {
  /** Its id, and the beginning of its heading's. */
  name: string;
  title: ReactNode;
  /** Given if the heading has to take the focus when a focused button has gone. */
  heading?: Ref<HTMLHeadingElement>;
  /** What it is for: a paragraph each. */
  lead?: readonly string[];
  /** What belongs to all of it: stands below the lead. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A part of a page of settings: what it is for at the side, and beside that what can be seen and done. */
export function Panel({ name, title, heading, lead = [], aside, children }: PanelProps) {
  return (
    <section id={name} className={styles.panel} aria-labelledby={`${name}-title`}>
      <header className={styles.about}>
        <h2 id={`${name}-title`} className={styles.title} ref={heading} tabIndex={heading ? -1 : undefined}>
          {title}
        </h2>
        {lead.map((sentence) => (
          <p key={sentence} className={styles.lead}>
            {sentence}
          </p>
        ))}
        {aside}
      </header>
      <div className={styles.body}>{children}</div>
    </section>
  );
}
