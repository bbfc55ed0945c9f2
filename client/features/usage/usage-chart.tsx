import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { SeriesChart } from "#client/components/series-chart.tsx";
import type { Usage } from "#contract/credits/usage.ts";
import type { Buckets } from "./usage-buckets.ts";
import { useModelName } from "./use-model-name.ts";

interface UsageChartProps {
  buckets: Buckets;
  unit: Usage["unit"];
}

/** Credits by day or month, as bars of one piece for each model. */
export function UsageChart({ buckets: { starts, models, credits, totals }, unit }: UsageChartProps) {
  const { t } = useTranslation("usage");
  const nameOf = useModelName();
  const series = useMemo(
    () => models.map((model, row) => ({ key: model ?? "", label: nameOf(model), values: credits[row] ?? [] })),
    [models, credits, nameOf],
  );
  return <SeriesChart label={t("charts.chart")} starts={starts} unit={unit} series={series} totalOf={(place) => totals[place] ?? 0} />;
}
