import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { pieceOf } from "#client/content/library.ts";
import type { PieceName } from "#client/content/names.ts";
import { piecePath } from "#client/content/names.ts";
import styles from "./related-pieces.module.css";

/** What to read next. */
export function RelatedPieces({ names }: { names: readonly PieceName[] }) {
  const { t, i18n } = useTranslation("reading");
  const pieces = names.flatMap((name) => pieceOf(name, i18n.language) ?? []);
  if (pieces.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="related">
      <h2 id="related">{t("related")}</h2>
      <ul className={styles.list}>
        {pieces.map(({ name, kind, title, description, language }) => (
          <li key={name} className={styles.item}>
            <p className={styles.kind}>{t(`kind.${kind}`)}</p>
            <h3 className={styles.title} lang={language}>
              <Link href={piecePath(name)}>{title}</Link>
            </h3>
            <p className={styles.text} lang={language}>
              {description}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
