import type { ComponentProps, ReactNode } from "react";
import { lazy, Suspense, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ChartColours, ChartRoom } from "#client/components/chart-colours.tsx";
import type { Series } from "#client/components/series-chart.tsx";
import type { Figures } from "#contract/figures.ts";
import { ChartTable } from "./chart-table.tsx";
import { ComparedTable } from "./compared-table.tsx";
import styles from "./overview.module.css";

/** Fetched with its library while the tables can be read already. */
const SeriesChart = lazy(async () => ({ default: (await import("#client/components/series-chart.tsx")).SeriesChart }));

interface FigureBlockProps {
  /** What the names of its headline figures begin with. */
  name: "revenue" | "subscriptions" | "people" | "credits" | "outstanding" | "answers";
  title: string;
  lead: string;
  figures: Figures;
  /** Must stay the same array while nothing changes. */
  series: readonly Series[];
  /** What is drawn of the range before, if there was one: of the whole chart, or of one of its series, whose label is `of`. */
  earlier?: { values: readonly number[] | undefined; of?: string };
  as?: "bars" | "line";
  format?: (value: number) => string;
  /** Tables that belong to the chart. */
  children: ReactNode;
}

type FigureChartProps = Omit<ComponentProps<typeof SeriesChart>, "label" | "totalOf"> & {
  title: string;
  /** Whether the bars of one day or month make a whole. */
  hasTotal?: boolean;
  /** Whether a table with all that is drawn stands below anyway. */
  hasTable?: boolean;
};

/** A chart, and a table with the same figures. The chart's place is reserved while its code is fetched. */
export function FigureChart({ title, hasTotal = false, hasTable = false, ...chart }: FigureChartProps) {
  const { t } = useTranslation("figures");
  const { series, starts, unit, earlier, format } = chart;
  const totalOf = hasTotal ? (place: number) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0) : undefined;
  return (
    <div>
      <Suspense fallback={<ChartRoom />}>
        <SeriesChart label={t("chart", { title })} {...chart} {...(totalOf && { totalOf })} />
      </Suspense>
      {!hasTable && (
        <ChartTable title={title} starts={starts} unit={unit} series={series} earlier={earlier} totalOf={totalOf} format={format} />
      )}
    </div>
  );
}

/** A part of the overview: what it is, a chart with its figures, and beside it what belongs to it. */
export function FigureBlock({ name, title, lead, figures, series, earlier, as, format, children }: FigureBlockProps) {
  const { t } = useTranslation("figures");
  const { starts } = figures;
  const { values, of } = earlier ?? {};
  const before = useMemo(() => {
    // Of two ranges counted in months, one may touch a month more than the other, so they are aligned at their ends.
    const aligned = values && starts.map((_, place) => values[place + values.length - starts.length] ?? null);
    const label = of === undefined ? t("compare.before") : t("compare.beforeOf", { of });
    return aligned && { label, values: aligned };
  }, [values, of, starts, t]);
  const isEmpty = series.every((each) => each.values.every((value) => value === 0));
  return (
    <section className={styles.block} aria-labelledby={`${name}-title`}>
      <header>
        <h2 id={`${name}-title`} className={styles.title}>
          {title}
        </h2>
        <p className={styles.lead}>{lead}</p>
      </header>
      <ChartColours className={styles.beside}>
        {isEmpty ? (
          <p className={styles.nothing}>{t("nothing")}</p>
        ) : (
          <FigureChart
            title={title}
            starts={starts}
            unit={figures.unit}
            series={series}
            earlier={before}
            // The earlier values are compared with the total, unless `of` names the one series that they belong to.
            hasTotal={series.length > 1 && earlier !== undefined && of === undefined}
            {...(as && { as })}
            {...(format && { format })}
          />
        )}
        <div className={styles.tables}>
          {figures.headlines.some((figure) => figure.name.startsWith(`${name}.`)) && (
            <ComparedTable block={name} title={title} figures={figures} />
          )}
          {children}
        </div>
      </ChartColours>
    </section>
  );
}
