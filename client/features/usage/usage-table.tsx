import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Usage } from "#contract/credits/usage.ts";
import type { Buckets } from "./usage-buckets.ts";
import { useModelName } from "./use-model-name.ts";

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
    <FigureTable
      label={t("charts.table")}
      head={t(`charts.${unit}`)}
      columns={[{ label: t("charts.total") }, ...models.map((model, index) => ({ label: nameOf(model), colour: index }))]}
      rows={rows.reverse().map(({ start, index }) => ({
        key: start,
        head: unit === "month" ? month(start) : date(start),
        cells: [
          <strong key="total">{number(totals[index] ?? 0)}</strong>,
          ...models.map((_model, column) => number(credits[column]?.[index] ?? 0)),
        ],
      }))}
    />
  );
}
