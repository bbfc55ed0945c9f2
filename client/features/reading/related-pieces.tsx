import { useTranslation } from "react-i18next";
import { ItemLink, LinkItem } from "#client/components/link-item.tsx";
import { piecePath } from "#client/content/names.ts";
import type { Recommendation } from "#client/content/piece.ts";
import { unbroken } from "./inline-text.tsx";
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
          <LinkItem key={name} className={styles.item}>
            <p className={styles.kind}>{t(`kind.${kind}`)}</p>
            <h3 className={styles.title} lang={language}>
              <ItemLink href={piecePath(name)}>{unbroken(title)}</ItemLink>
            </h3>
            <p className={styles.text} lang={language}>
              {description}
            </p>
          </LinkItem>
        ))}
      </ul>
    </section>
  );
}
