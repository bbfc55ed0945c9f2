import { useTranslation } from "react-i18next";
import { fillFigures } from "#client/content/figures.ts";
import { formatNumber } from "#client/lib/format.ts";

/** Fills in the figures of a text, as the language it is written in puts them. */
export function useFigures(language: string): (text: string) => string {
  const { i18n } = useTranslation("common");
  const t = i18n.getFixedT(language, "common");
  const credits = (count: number) => t("credits", { count, formatted: formatNumber(count, language) });
  return (text) => fillFigures(text, { language, credits });
}
