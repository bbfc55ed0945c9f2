import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import type { Source } from "#contract/generations/generations.ts";
import { safeHref } from "./markdown-blocks.ts";
import styles from "./source-cards.module.css";
import { cardId } from "./source-marks.tsx";

/** The sources whose numbers the text refers to; all sources if it refers to none. */
function citedIn(text: string, sources: readonly Source[]): readonly Source[] {
  const cited = sources.filter(({ mark }) => mark !== null && text.includes(`[${mark}]`));
  return cited.length > 0 ? cited : sources;
}

function Card({ source: { mark, url, title, date }, answer }: { source: Source; answer: string }) {
  const format = useFormat();
  const href = safeHref(url);
  if (href === undefined) return null;
  const site = new URL(href).host.replace(/^www\./, "");
  // Providers write a day in this form, or words that we can't translate.
  const day = date !== null && /^\d{4}-\d{2}-\d{2}$/.test(date) ? new Date(`${date}T12:00:00`) : undefined;
  return (
    <li>
      <a
        {...(mark !== null && { id: cardId(answer, mark) })}
        href={href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        className={styles.card}
      >
        {mark !== null && <span className={styles.mark}>{format.number(mark)}</span>}
        <span className={styles.title}>{title ?? site}</span>
        <span className={styles.place}>
          {site}
          {day && !Number.isNaN(day.getTime()) && ` · ${format.date(day)}`}
        </span>
      </a>
    </li>
  );
}

/** The sources of an answer's facts. `answer`: the prefix of its cards' ids. */
export function SourceCards({ sources, text, answer }: { sources: readonly Source[]; text: string; answer: string }) {
  const { t } = useTranslation("chat");
  return (
    <section className={styles.sources} aria-label={t("answer.sources")}>
      <p className={styles.heading} aria-hidden="true">
        {t("answer.sources")}
      </p>
      <ul className={styles.cards}>
        {citedIn(text, sources).map((source) => (
          <Card key={source.url} source={source} answer={answer} />
        ))}
      </ul>
    </section>
  );
}
