import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { piecePath } from "#client/content/names.ts";
import type { Recommendation } from "#client/content/piece.ts";
import styles from "./related-pieces.module.css";

/** What to read next. */
export function RelatedPieces({ pieces }: { pieces: readonly Recommendation[] }) {
  const { t } = useTranslation("reading");
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
