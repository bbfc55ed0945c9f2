import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Usage } from "#contract/usage.ts";
import styles from "./usage.module.css";
import type { Buckets } from "./usage-buckets.ts";
import { useModelName } from "./use-model-name.ts";

/** What scrolls must have the focus to be scrolled by keyboard. */
const scrollable = { tabIndex: 0 };

interface UsageTableProps {
  buckets: Buckets;
  unit: Usage["unit"];
}

/** The chart's figures, newest first, and the meaning of its colours. Days without usage are left out. */
export function UsageTable({ buckets: { starts, models, credits, totals }, unit }: UsageTableProps) {
  const { t } = useTranslation("usage");
  const { number } = useFormat();
  const { date, month } = useUtc();
  const nameOf = useModelName();
  const rows = starts.map((start, index) => ({ start, index })).filter(({ index }) => (totals[index] ?? 0) > 0);
  return (
    <section className={styles.scrolls} aria-label={t("charts.table")} {...scrollable}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{t(`charts.${unit}`)}</th>
            <th scope="col">{t("charts.total")}</th>
            {models.map((model, index) => (
              <th key={model ?? ""} scope="col">
                <span className={styles.colour} data-place={index} />
                {nameOf(model)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.reverse().map(({ start, index }) => (
            <tr key={start}>
              <th scope="row">{unit === "month" ? month(start) : date(start)}</th>
              <td>
                <strong>{number(totals[index] ?? 0)}</strong>
              </td>
              {models.map((model, column) => (
                <td key={model ?? ""}>{number(credits[column]?.[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
