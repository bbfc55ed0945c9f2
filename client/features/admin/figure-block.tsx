import type { ComponentProps, ReactNode } from "react";
import { lazy, Suspense, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ChartColours, ChartRoom } from "#client/components/chart-colours.tsx";
import type { Series } from "#client/components/series-chart.tsx";
import type { Figures } from "#contract/figures.ts";
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
  /** Tables, with the chart's figures. */
  children: ReactNode;
}

type FigureChartProps = Omit<ComponentProps<typeof SeriesChart>, "label"> & { title: string };

/** Room for the chart is kept while it is fetched. */
export function FigureChart({ title, ...chart }: FigureChartProps) {
  const { t } = useTranslation("figures");
  return (
    <Suspense fallback={<ChartRoom />}>
      <SeriesChart label={t("chart", { title })} {...chart} />
    </Suspense>
  );
}

/** A part of the overview: what it is, a chart, and beside it its table. */
export function FigureBlock({ name, title, lead, figures, series, earlier, as, format, children }: FigureBlockProps) {
  const { t } = useTranslation("figures");
  const { starts } = figures;
  const { values, of } = earlier ?? {};
  const before = useMemo(() => {
    // One of two ranges of many months may touch a month more. Their ends stand below each other.
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
