import { ChevronDown } from "lucide-react";
import { useId, useState } from "react";
import { Link } from "wouter";
import styles from "./section-links.module.css";

interface SectionLinksProps<Name extends string> {
  label: string;
  /** On the button that opens the list in a narrow window. */
  opener: string;
  sections: readonly { name: Name; href: string; label: string }[];
  current: Name;
  /** In a wide window: a row above the page, or a column at its side. */
  as: "row" | "column";
}

/** Links to the sections of a page; in a narrow window a list that a button opens. */
export function SectionLinks<Name extends string>({ label, opener, sections, current, as }: SectionLinksProps<Name>) {
  const [open, setOpen] = useState(false);
  const listId = useId();
  return (
    <nav aria-label={label} className={styles[as]}>
      <button type="button" className={styles.opener} aria-expanded={open} aria-controls={listId} onClick={() => setOpen(!open)}>
        {opener}
        <ChevronDown size={18} aria-hidden="true" />
      </button>
      <ul id={listId} className={styles.list} data-open={open || undefined}>
        {sections.map(({ name, href, label: words }) => (
          <li key={name}>
            <Link
              href={href}
              className={styles.section}
              aria-current={name === current ? "page" : undefined}
              onClick={() => setOpen(false)}
            >
              {words}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
