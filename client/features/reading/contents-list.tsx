import { useRef } from "react";
import { useTranslation } from "react-i18next";
import type { Heading } from "#client/content/piece.ts";
import styles from "./contents-list.module.css";

interface ContentsProps {
  headings: readonly Heading[];
  current: string | undefined;
}

function Links({ headings, current, onChosen }: ContentsProps & { onChosen?: () => void }) {
  return (
    <ul className={styles.list}>
      {headings.map(({ id, level, text }) => (
        <li key={id} data-level={level}>
          <a href={`#${id}`} aria-current={id === current ? "location" : undefined} onClick={onChosen}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The contents beside the text on wide screens. They stay visible and mark the current section. */
export function ContentsAside(props: ContentsProps) {
  const { t, i18n } = useTranslation("reading");
  return (
    <nav className={styles.aside} aria-labelledby="contents-title">
      <p className={styles.title} id="contents-title" lang={i18n.language}>
        {t("contents")}
      </p>
      <Links {...props} />
    </nav>
  );
}

/** The contents on a phone: collapsed above the text, and collapsed again once a section is chosen. */
export function ContentsFold(props: ContentsProps) {
  const { t, i18n } = useTranslation("reading");
  const fold = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (fold.current) fold.current.open = false;
  };
  return (
    <nav className={styles.fold} aria-label={t("contents")}>
      <details ref={fold}>
        <summary lang={i18n.language} data-wakes="">
          {t("contents")}
        </summary>
        <Links {...props} onChosen={close} />
      </details>
    </nav>
  );
}
