import { useTranslation } from "react-i18next";
import type { PieceMetadata } from "#client/content/piece.ts";
import { formatDay, formatMonth } from "./dates.ts";
import styles from "./facts.module.css";

function Day({ date }: { date: string }) {
  const { i18n } = useTranslation("reading");
  return <time dateTime={date}>{formatDay(date, i18n.language)}</time>;
}

interface PieceFactsProps {
  piece: PieceMetadata;
  /** Shows only one date, for lists. */
  brief?: boolean;
}

/** The reading time and the dates, in the reader's language. */
export function PieceFacts({ piece, brief = false }: PieceFactsProps) {
  const { t, i18n } = useTranslation("reading");
  const { kind, published, updated, readingMinutes } = piece;
  const minutes = <li>{t("minutes", { count: readingMinutes })}</li>;
  if (kind === "legal") {
    return (
      <ul className={styles.facts}>
        <li>
          <time dateTime={updated.slice(0, 7)}>{t("lastUpdated", { date: formatMonth(updated, i18n.language) })}</time>
        </li>
        {minutes}
      </ul>
    );
  }
  return (
    <ul className={styles.facts}>
      {minutes}
      <li>
        <Day date={published} />
      </li>
      {!brief && updated !== published && (
        <li>
          <time dateTime={updated}>{t("updated", { date: formatDay(updated, i18n.language) })}</time>
        </li>
      )}
    </ul>
  );
}
