import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { ItemLink, LinkItem } from "#client/components/link-item.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { Page } from "#client/components/page.tsx";
import { piecesOf } from "#client/content/library.ts";
import { piecePath } from "#client/content/names.ts";
import type { PieceMetadata } from "#client/content/piece.ts";
import styles from "./blog-list.module.css";
import { PieceFacts } from "./facts.tsx";
import { Illustration } from "./illustration.tsx";
import { unbroken } from "./inline-text.tsx";
import { blogStructuredData } from "./structured-data.ts";

function TitleAndText({ piece }: { piece: PieceMetadata }) {
  return (
    <>
      <h2 className={styles.title} lang={piece.language}>
        <ItemLink href={piecePath(piece.name)}>{unbroken(piece.title)}</ItemLink>
      </h2>
      <p className={styles.text} lang={piece.language}>
        {piece.description}
      </p>
    </>
  );
}

/** The latest article, with its picture. */
function Latest({ piece }: { piece: PieceMetadata }) {
  return (
    <LinkItem className={styles.latest}>
      <div className={styles.picture}>
        <Illustration name={piece.name} />
      </div>
      <div className={styles.words}>
        <PieceFacts piece={piece} brief />
        <TitleAndText piece={piece} />
      </div>
    </LinkItem>
  );
}

function Entry({ piece }: { piece: PieceMetadata }) {
  return (
    <LinkItem className={styles.entry}>
      <PieceFacts piece={piece} brief />
      <div className={styles.words}>
        <TitleAndText piece={piece} />
      </div>
      <div className={styles.thumbnail}>
        <Illustration name={piece.name} />
      </div>
    </LinkItem>
  );
}

/** The guides, below the articles. They show no date, because their date doesn't matter. */
function Guides({ language }: { language: string }) {
  const { t } = useTranslation("reading");
  return (
    <section className={styles.guides} aria-labelledby="guides">
      <div className={styles.guidesHead}>
        <h2 id="guides">{t("blog.guides")}</h2>
        <p className={styles.text}>{t("blog.guidesLead")}</p>
      </div>
      <ul className={styles.shelf}>
        {piecesOf("guide", language).map((piece) => (
          <li key={piece.name} className={styles.guide}>
            <ModelPattern modelId={piece.name} category="audio" className={styles.tile} />
            <Link href={piecePath(piece.name)} lang={piece.language}>
              {piece.title}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Every article, the newest first, and the guides. */
export function BlogList() {
  const { t, i18n } = useTranslation("reading");
  const articles = piecesOf("article", i18n.language);
  const [latest, ...earlier] = articles;
  const foreign = articles.some((piece) => piece.language !== i18n.language);
  return (
    <Page
      title={t("blog.title")}
      description={t("blog.description")}
      structuredData={import.meta.env.SSR ? blogStructuredData(t("blog.title"), articles) : undefined}
      className={styles.page ?? ""}
    >
      <header className={styles.head}>
        <h1>{t("blog.title")}</h1>
        <p className={styles.lead}>{t("blog.lead")}</p>
        {foreign && <p className={styles.foreign}>{t("blog.onlyEnglish")}</p>}
      </header>
      <ol className={styles.list}>
        {latest && <Latest piece={latest} />}
        {earlier.map((piece) => (
          <Entry key={piece.name} piece={piece} />
        ))}
      </ol>
      <Guides language={i18n.language} />
    </Page>
  );
}
