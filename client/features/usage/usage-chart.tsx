import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Usage } from "#contract/usage.ts";
import styles from "./usage.module.css";
import type { Buckets } from "./usage-buckets.ts";
import { useModelName } from "./use-model-name.ts";

interface UsageChartProps {
  buckets: Buckets;
  unit: Usage["unit"];
}

const height = 260;
/** Room for one label of the axis, in CSS pixels. */
const labelWidth = 64;
const axisFont = "12px sans-serif";

/** Each model's credits on top of those before it; the highest first, so that the lower ones are drawn over it. */
function stacked({ starts, credits }: Buckets): uPlot.AlignedData {
  const sums = credits.map((_, model) =>
    starts.map((__, start) => credits.slice(0, model + 1).reduce((sum, own) => sum + (own[start] ?? 0), 0)),
  );
  return [starts.map((_, index) => index), ...sums.reverse()];
}

interface Labels {
  start: (start: string) => string;
  number: (value: number) => string;
}

/** Told the place of the bar below the pointer; null for none. */
type OnPoint = (place: number | null) => void;

/** As wide as its longest label, so that the bars get the rest of a narrow screen. */
function widthOfNumbers(chart: uPlot, values: readonly string[] | null): number {
  chart.ctx.save();
  chart.ctx.font = axisFont;
  const widest = Math.max(0, ...(values ?? []).map((value) => chart.ctx.measureText(value).width));
  chart.ctx.restore();
  return Math.ceil(widest) + 12;
}

/** The canvas knows no custom properties: each colour is read from an element that has it, when it is drawn. */
function optionsOf(buckets: Buckets, element: HTMLElement, labels: Labels, onPoint: OnPoint): uPlot.Options {
  const swatches = [...element.querySelectorAll("[data-place]")];
  const colourOf = (place: number) => getComputedStyle(swatches[place] ?? element).color;
  const bars = uPlot.paths.bars?.({ size: [0.7, 48] });
  const places = buckets.models.map((_, index) => buckets.models.length - 1 - index);
  const axis: uPlot.Axis = {
    stroke: () => getComputedStyle(element).color,
    grid: { show: false },
    ticks: { show: false },
    font: axisFont,
  };
  const lines = element.querySelector("[data-lines]") ?? element;
  return {
    width: element.clientWidth,
    height,
    // A line at the bar whose figures stand below. The table has them for those who can't point.
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    hooks: { setCursor: [(chart) => onPoint(chart.cursor.idx ?? null)] },
    // Room for the right half of the last label.
    padding: [8, labelWidth / 2, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: [-0.6, buckets.starts.length - 0.4] },
      y: { range: (_chart, _low, high) => [0, Math.max(high * 1.05, 4)] },
    },
    axes: [
      {
        ...axis,
        space: labelWidth,
        size: 32,
        gap: 10,
        incrs: [1, 2, 3, 7, 14, 30],
        values: (_chart, splits) => splits.map((split) => labels.start(buckets.starts[split] ?? "")),
      },
      {
        ...axis,
        size: widthOfNumbers,
        grid: { stroke: () => getComputedStyle(lines).color, width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000],
        values: (_chart, splits) => splits.map(labels.number),
      },
    ],
    series: [
      {},
      ...places.map(
        (place): uPlot.Series => ({ ...(bars && { paths: bars }), points: { show: false }, width: 0, fill: () => colourOf(place) }),
      ),
    ],
  };
}

/** The figures of one bar: what the pointer shows and the table has as well. */
function Pointed({ buckets: { starts, models, credits, totals }, place, label }: { buckets: Buckets; place: number; label: string }) {
  const { number } = useFormat();
  const nameOf = useModelName();
  const used = models.map((model, row) => ({ model, row, spent: credits[row]?.[place] ?? 0 })).filter(({ spent }) => spent > 0);
  return (
    <>
      <span>
        {label} <strong>{number(totals[place] ?? 0)}</strong>
      </span>
      {used.map(({ model, row, spent }) => (
        <span key={`${starts[place]} ${model}`}>
          <span className={styles.colour} data-place={row} />
          {nameOf(model)} {number(spent)}
        </span>
      ))}
    </>
  );
}

/** Credits by day or month, as bars of one piece for each model. */
export function UsageChart({ buckets, unit }: UsageChartProps) {
  const { t } = useTranslation("usage");
  const { number } = useFormat();
  const { shortDay, shortMonth } = useUtc();
  const [pointed, setPointed] = useState<number | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const labels = useRef<Labels>({ start: shortDay, number });
  /** Until something is pointed at, the latest bar: nobody has to guess what the line below is for. */
  const latest = buckets.totals.findLastIndex((total) => total > 0);
  const place = pointed ?? (latest >= 0 ? latest : null);
  labels.current = { start: (start) => (start === "" ? "" : unit === "month" ? shortMonth(start) : shortDay(start)), number };

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const chart = new uPlot(optionsOf(buckets, element, labels.current, setPointed), stacked(buckets), element);
    const resizes = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resizes.observe(element);
    // Another theme has other colours.
    const redraw = () => chart.redraw();
    const themes = new MutationObserver(redraw);
    themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", redraw);
    return () => {
      resizes.disconnect();
      themes.disconnect();
      dark.removeEventListener("change", redraw);
      chart.destroy();
      setPointed(null);
    };
  }, [buckets]);

  return (
    <div>
      <div ref={frame} className={styles.chart} role="img" aria-label={t("charts.chart")}>
        <span data-lines className={styles.lines} hidden />
        {buckets.models.map((model, place) => (
          <span key={model ?? ""} data-place={place} hidden />
        ))}
      </div>
      <p className={styles.pointed} aria-hidden="true">
        {place !== null && <Pointed buckets={buckets} place={place} label={labels.current.start(buckets.starts[place] ?? "")} />}
      </p>
    </div>
  );
}
