import { useMemo, useState } from "react";
import { useFormat } from "#client/lib/use-format.ts";
import type { Plot } from "#client/lib/use-plot.ts";
import { usePlot } from "#client/lib/use-plot.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import { ChartColour } from "./chart-colours.tsx";
import styles from "./series-chart.module.css";

export interface Series {
  key: string;
  label: string;
  /** One for each start. */
  values: readonly number[];
}

/** The values of the range before, one for each place; null where that range has none. Must stay the same object while nothing changes. */
export interface EarlierSeries {
  label: string;
  values: readonly (number | null)[];
}

interface SeriesChartProps {
  /** Says what is drawn, and that a table has the same figures. */
  label: string;
  /** The first day of each day or month. */
  starts: readonly string[];
  unit: "day" | "month";
  /** At most five. Must stay the same array while nothing changes. */
  series: readonly Series[];
  as?: Plot["as"];
  earlier?: EarlierSeries | undefined;
  /** The total of all series at a place; absent if their sum means nothing. */
  totalOf?: (place: number) => number;
  /** How a value is written; as a number without it. */
  format?: (value: number) => string;
}

/** The figures of one bar: what the pointer shows and the table has as well. */
function Pointed({
  series,
  earlier,
  place,
  label,
  totalOf,
  format,
}: Pick<SeriesChartProps, "series" | "earlier" | "totalOf"> & { place: number; label: string; format: (value: number) => string }) {
  const used = series
    .map(({ key, label: name, values }, row) => ({ key, name, row, value: values[place] ?? 0 }))
    .filter(({ value }) => value !== 0);
  const before = earlier?.values[place] ?? null;
  return (
    <>
      <span>
        {label} {totalOf && <strong>{format(totalOf(place))}</strong>}
      </span>
      {used.map(({ key, name, row, value }) => (
        <span key={key}>
          <ChartColour place={row} />
          {name} {format(value)}
        </span>
      ))}
      {before !== null && (
        <span>
          <span className={styles.dashes} />
          {earlier?.label} {format(before)}
        </span>
      )}
    </>
  );
}

/** Figures by day or month, in UTC, within `ChartColours`. */
export function SeriesChart({ label, starts, unit, series, as = "bars", earlier, totalOf, format }: SeriesChartProps) {
  const { number } = useFormat();
  const { shortDay, shortMonth } = useUtc();
  const [pointed, setPointed] = useState<number | null>(null);
  const plot = useMemo(
    (): Plot => ({ starts, series: series.map(({ values }) => values), as, earlier: earlier?.values }),
    [starts, series, as, earlier],
  );
  const startLabel = (start: string) => (start === "" ? "" : unit === "month" ? shortMonth(start) : shortDay(start));
  const frame = usePlot(plot, { start: startLabel, number: format ?? number }, setPointed);
  /** Until something is pointed at, the latest bar: nobody has to guess what the line below is for. */
  const latest = starts.findLastIndex((_, place) => series.some(({ values }) => values[place]));
  const place = pointed ?? (latest >= 0 ? latest : null);
  return (
    <div>
      <div ref={frame} className={styles.chart} role="img" aria-label={label}>
        <span data-lines className={styles.lines} hidden />
        {earlier && <span data-paper className={styles.paper} hidden />}
        {series.map(({ key }, row) => (
          <span key={key} data-place={row} hidden />
        ))}
      </div>
      <p className={styles.pointed} aria-hidden="true">
        {place !== null && (
          <Pointed
            series={series}
            earlier={earlier}
            place={place}
            label={startLabel(starts[place] ?? "")}
            format={format ?? number}
            {...(totalOf && { totalOf })}
          />
        )}
      </p>
    </div>
  );
}
