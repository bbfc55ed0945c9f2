import { useTranslation } from "react-i18next";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Figures } from "#contract/figures.ts";

/** What the days or months of the figures are called in a table. */
export function useStartNames({ unit }: Pick<Figures, "unit">): { head: string; nameOf: (start: string) => string } {
  const { t } = useTranslation("usage");
  const { date, month } = useUtc();
  return { head: t(`charts.${unit}`), nameOf: unit === "month" ? month : date };
}
