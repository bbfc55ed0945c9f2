import { ChevronDown } from "lucide-react";
import { useId, useState } from "react";
import { Link } from "wouter";
import styles from "./section-links.module.css";
import { VisuallyHidden } from "./visually-hidden.tsx";

interface SectionLinksProps<Name extends string> {
  label: string;
  /** The label of the button that opens the list in a narrow window. */
  opener: string;
  /** `count`: how many things wait there, in figures and in words. */
  sections: readonly { name: Name; href: string; label: string; count?: { short: string; words: string } | undefined }[];
  current: Name;
  /** In a wide window: a row above the page, or a column at its side. */
  as: "row" | "column";
}

function Figure({ short }: { short: string }) {
  return (
    <span className={styles.count} aria-hidden="true">
      {short}
    </span>
  );
}

/** Links to the sections of a page; in a narrow window a list that a button opens. */
export function SectionLinks<Name extends string>({ label, opener, sections, current, as }: SectionLinksProps<Name>) {
  const [open, setOpen] = useState(false);
  const [listId, countId] = [useId(), useId()];
  const waiting = sections.find(({ count }) => count)?.count;
  return (
    <nav aria-label={label} className={styles[as]}>
      <button
        type="button"
        className={styles.opener}
        aria-expanded={open}
        aria-controls={listId}
        aria-describedby={waiting && countId}
        onClick={() => setOpen(!open)}
      >
        <span className={styles.label}>
          {opener}
          {waiting && <Figure short={waiting.short} />}
        </span>
        <ChevronDown size={18} aria-hidden="true" />
      </button>
      {waiting && (
        <span id={countId} hidden>
          {waiting.words}
        </span>
      )}
      <ul id={listId} className={styles.list} data-open={open || undefined}>
        {sections.map(({ name, href, label: words, count }) => (
          <li key={name}>
            <Link
              href={href}
              className={styles.section}
              aria-current={name === current ? "page" : undefined}
              onClick={() => setOpen(false)}
            >
              {words}
              {count && (
                <>
                  {" "}
                  <Figure short={count.short} />
                  <VisuallyHidden>{count.words}</VisuallyHidden>
                </>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
