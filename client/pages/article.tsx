import i18next from "i18next";
import { useLocation } from "wouter";
import { isWritten } from "#client/content/bodies.ts";
import { calculatorName, pieceNameAt } from "#client/content/names.ts";
import { SaveSlot } from "#client/features/kept/save-slot.tsx";
import { prepareReading } from "#client/features/reading/prepare-reading.ts";
import { PartView, preparedPart } from "#client/features/reading/prepared-part.tsx";
import { ReadingView } from "#client/features/reading/reading-view.tsx";
import { untilFetched } from "#client/lib/until-fetched.ts";
import styles from "./article.module.css";
import { NotFoundLater } from "./not-found-later.tsx";

/** Only one of six articles needs the calculator and its texts, so they are separate. */
const calculator = preparedPart(() =>
  untilFetched(async () => {
    const [{ RoiCalculator }] = await Promise.all([import("#client/features/reading/roi-calculator.tsx"), i18next.loadNamespaces("roi")]);
    return RoiCalculator;
  }),
);
const widgets = { "roi-calculator": <PartView part={calculator} roomClass={styles.calculator} /> };

/**
 * Loads what the first render needs at this address in this language. In the browser the calculator's prerendered HTML, or an
 * empty space of its size, stays until its script has loaded, so the article doesn't wait for it.
 */
export async function prepareArticle(pathname: string, language: string): Promise<void> {
  const name = pieceNameAt(pathname);
  if (!name) return;
  await Promise.all([prepareReading(name, language), import.meta.env.SSR && name === calculatorName && calculator.prepare()]);
}

/** An article of the blog, or the not-found page if there is none at this address. */
export function ArticlePage() {
  const [pathname] = useLocation();
  const name = pieceNameAt(pathname);
  if (!name || !isWritten(name)) return <NotFoundLater />;
  return <ReadingView key={name} name={name} widgets={widgets} offlineControl={<SaveSlot />} />;
}
