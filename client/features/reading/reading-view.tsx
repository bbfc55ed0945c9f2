import { Globe } from "lucide-react";
import type { ReactNode } from "react";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Page } from "#client/components/page.tsx";
import type { PieceName } from "#client/content/names.ts";
import type { PieceToRead } from "#client/content/piece.ts";
import { paths } from "#client/paths.ts";
import type { Widgets } from "./blocks-view.tsx";
import { BlocksView } from "./blocks-view.tsx";
import { ContentsAside, ContentsFold } from "./contents-list.tsx";
import { PieceFacts } from "./facts.tsx";
import { Illustration } from "./illustration.tsx";
import { inlineText, unbroken } from "./inline-text.tsx";
import styles from "./reading-view.module.css";
import { RelatedPieces } from "./related-pieces.tsx";
import { structuredDataOf } from "./structured-data.ts";
import { useCurrentSection } from "./use-current-section.ts";
import { usePiece } from "./use-piece.ts";

interface ReadingViewProps {
  name: PieceName;
  /** "Save for offline", passed in by the page. */
  offlineControl?: ReactNode;
  /** The components for `::name` in the text. */
  widgets?: Widgets;
}

const noWidgets: Widgets = {};

/** The note that a text is not available in the reader's language. */
function LanguageNote({ language }: { language: string }) {
  const { t } = useTranslation("reading");
  return (
    <p className={styles.note} lang={language}>
      <Globe size={18} aria-hidden="true" />
      {t("onlyEnglish")}
    </p>
  );
}

function Eyebrow({ piece, language }: { piece: PieceToRead; language: string }) {
  const { t } = useTranslation("reading");
  return (
    <p className={styles.eyebrow} lang={language}>
      {piece.kind === "article" ? <Link href={paths.blog}>{t("kind.article")}</Link> : t(`kind.${piece.kind}`)}
    </p>
  );
}

/** Title, lead and facts beside the illustration; legal pages have no illustration. */
function Opening({ piece, language, offlineControl }: { piece: PieceToRead; language: string; offlineControl: ReactNode }) {
  return (
    <header className={piece.kind === "legal" ? styles.plainOpening : styles.opening}>
      <div className={styles.words}>
        <Eyebrow piece={piece} language={language} />
        <h1>{unbroken(piece.title)}</h1>
        <p className={styles.lead}>{inlineText(piece.lead)}</p>
        <div className={styles.facts} lang={language}>
          <PieceFacts piece={piece} />
          {offlineControl}
        </div>
        {piece.language !== language && <LanguageNote language={language} />}
      </div>
      {piece.kind !== "legal" && (
        <div className={styles.picture}>
          <Illustration name={piece.name} />
        </div>
      )}
    </header>
  );
}

/** A guide, an article or a legal page, with recommendations at the end. */
export function ReadingView({ name, offlineControl, widgets = noWidgets }: ReadingViewProps) {
  const { t, i18n } = useTranslation("reading");
  const language = i18n.language;
  const piece = usePiece(language, name);
  // Only prerendering needs it; nothing reads it on the device.
  const structuredData = import.meta.env.SSR ? structuredDataOf(piece, { home: t("home"), blog: t("kind.article") }) : undefined;
  const ids = useMemo(() => piece.headings.map(({ id }) => id), [piece]);
  const current = useCurrentSection(ids);
  const contents = { headings: piece.headings, current };
  return (
    <Page title={piece.title} description={piece.description} structuredData={structuredData} className={styles.page ?? ""}>
      <article lang={piece.language} className={styles.piece}>
        <Opening piece={piece} language={language} offlineControl={offlineControl} />
        <div className={styles.body}>
          <ContentsAside {...contents} />
          <ContentsFold {...contents} />
          <BlocksView all={piece.blocks} widgets={widgets} />
        </div>
      </article>
      <RelatedPieces pieces={piece.recommended} />
    </Page>
  );
}
