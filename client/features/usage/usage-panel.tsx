import { lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { ChartColours, ChartRoom } from "#client/components/chart-colours.tsx";
import { Panel } from "#client/components/panel.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { Usage, UsageRange } from "#contract/credits/usage.ts";
import styles from "./usage.module.css";
import { bucketsOf } from "./usage-buckets.ts";
import { UsageTable } from "./usage-table.tsx";
import { useUsage } from "./use-usage.ts";

const ranges = ["7d", "30d", "90d", "12m"] as const satisfies readonly UsageRange[];

/** Fetched with its library while the table can be read already. */
const UsageChart = lazy(async () => ({ default: (await import("./usage-chart.tsx")).UsageChart }));

function Figures({ usage }: { usage: Usage }) {
  const { t } = useTranslation("usage");
  const { number } = useFormat();
  if (usage.sums.length === 0) return <p className={styles.lead}>{t("charts.empty")}</p>;
  const buckets = bucketsOf(usage);
  const answers = usage.sums.reduce((sum, { answers: more }) => sum + more, 0);
  return (
    <>
      <p className={styles.totals}>
        <span>
          {t("charts.credits")} <strong>{number(buckets.total)}</strong>
        </span>
        <span>
          {t("kinds.capture")} <strong>{number(answers)}</strong>
        </span>
      </p>
      <ChartColours className={styles.figures}>
        <Suspense fallback={<ChartRoom />}>
          <UsageChart buckets={buckets} unit={usage.unit} />
        </Suspense>
        <UsageTable buckets={buckets} unit={usage.unit} />
      </ChartColours>
    </>
  );
}

/** Credits spent by day and model, as a chart and as a table with the same figures. */
export function UsagePanel() {
  const { t } = useTranslation(["usage", "common"]);
  const [range, setRange] = useState<UsageRange>("30d");
  const { state, read } = useUsage(range);
  const again = (
    <Button size="small" onClick={read}>
      {t("common:retry")}
    </Button>
  );
  return (
    <Panel name="usage" title={t("usage:charts.title")} lead={[t("usage:charts.lead")]}>
      <Segmented
        label={t("usage:charts.range")}
        options={ranges.map((value) => ({ value, label: t(`usage:charts.ranges.${value}`) }))}
        value={range}
        onChange={setRange}
      />
      {state.status === "loading" && <Spinner label={t("usage:history.reading")} />}
      {state.status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("usage:charts.failed")}
        </Alert>
      )}
      {state.status === "known" && <Figures usage={state.usage} />}
    </Panel>
  );
}
