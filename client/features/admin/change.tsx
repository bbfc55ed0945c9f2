import { useTranslation } from "react-i18next";
import type { HeadlineFigure } from "#contract/figures.ts";
import { headlineFigures, judgementOf } from "#domain/headline-figures.ts";
import styles from "./change.module.css";
import { formatHeadline, formatPoints } from "./headline-format.ts";

/** By how much a figure differs from that of the range before, and in words whether that is good news. */
export function Change({ figure: { name, change, changePercent } }: { figure: HeadlineFigure }) {
  const { t, i18n } = useTranslation("figures");
  const { unit } = headlineFigures[name];
  if (change === null) return <span className={styles.change}>–</span>;
  if (change === 0) return <span className={styles.change}>{t("compare.same")}</span>;
  const judgement = judgementOf(name, change);
  const by =
    unit === "percent"
      ? t("compare.points", { formatted: formatPoints(change, i18n.language) })
      : formatHeadline(unit, change, i18n.language, true);
  return (
    <span className={styles.change} data-is={judgement}>
      {by}
      {changePercent !== null && <span>{formatHeadline("percent", changePercent, i18n.language, true)}</span>}
      {judgement && <span>{t(`compare.${judgement}`)}</span>}
    </span>
  );
}
