/** A chart on a canvas that follows its frame's size and the theme's colours. uPlot is large, so only chunks that draw import this. */
import type { RefObject } from "react";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface PlotLabels {
  /** The label of a day or a month, for the axis. */
  start: (start: string) => string;
  number: (value: number) => string;
}

export interface Plot {
  starts: readonly string[];
  /** Values by series and start. The first is drawn at the bottom. */
  series: readonly (readonly number[])[];
  /** Bars of one series on top of another, those below zero downwards; or a line of the only series. */
  as: "bars" | "line";
  /** The values of the range before, drawn as a dashed line. */
  earlier?: readonly (number | null)[] | undefined;
}

const plotHeight = 260;
/** Room for one label of the axis, in CSS pixels. */
const labelWidth = 64;
const axisFont = "12px sans-serif";
/** Steps between the lines across: 1, 2 and 5 times the powers of ten. */
const steps = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** Each series on top of those before it; the highest first, so that the lower ones are drawn over it. */
function stacked({ starts, series, earlier }: Plot): uPlot.AlignedData {
  const above = starts.map(() => 0);
  const below = starts.map(() => 0);
  const sums = series.map((values) =>
    starts.map((_, place) => {
      const value = values[place] ?? 0;
      const side = value < 0 ? below : above;
      side[place] = (side[place] ?? 0) + value;
      return value === 0 ? 0 : (side[place] ?? 0);
    }),
  );
  return [starts.map((_, index) => index), ...sums.reverse(), ...(earlier ? [[...earlier], [...earlier]] : [])];
}

/** The axis is as wide as its longest label, so that the bars get the rest of a narrow screen. */
function widthOfNumbers(chart: uPlot, values: readonly string[] | null): number {
  chart.ctx.save();
  chart.ctx.font = axisFont;
  const widest = Math.max(0, ...(values ?? []).map((value) => chart.ctx.measureText(value).width));
  chart.ctx.restore();
  return Math.ceil(widest) + 12;
}

/** The canvas knows no custom properties: each colour is read from an element that has it, when it is drawn. */
function optionsOf(
  { starts, series, as, earlier }: Plot,
  element: HTMLElement,
  labels: PlotLabels,
  onPoint: (place: number | null) => void,
): uPlot.Options {
  const swatches = [...element.querySelectorAll("[data-place]")];
  const colourOf = (place: number) => getComputedStyle(swatches[place] ?? element).color;
  const bars = uPlot.paths.bars?.({ size: [0.7, 48] });
  const drawn = (place: number): uPlot.Series => ({
    ...(as === "bars" && bars ? { paths: bars, width: 0, fill: () => colourOf(place) } : { width: 2, stroke: () => colourOf(place) }),
    points: { show: as === "line" && starts.length === 1 },
  });
  const quiet = () => getComputedStyle(element).color;
  const paper = element.querySelector("[data-paper]") ?? element;
  // Drawn over a wider line in the paper's colour, because it may lie over bars of its own colour.
  const drawnEarlier: uPlot.Series[] = [
    { width: 4, stroke: () => getComputedStyle(paper).color, points: { show: false } },
    { width: 1.5, dash: [4, 4], stroke: quiet, points: { show: false } },
  ];
  const axis: uPlot.Axis = {
    stroke: quiet,
    grid: { show: false },
    ticks: { show: false },
    font: axisFont,
  };
  const lines = element.querySelector("[data-lines]") ?? element;
  return {
    width: element.clientWidth,
    height: plotHeight,
    // A line at the bar whose figures stand below. The table has them for those who can't point.
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    hooks: { setCursor: [(chart) => onPoint(chart.cursor.idx ?? null)] },
    // Room for the right half of the last label.
    padding: [8, labelWidth / 2, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: [-0.6, starts.length - 0.4] },
      y: { range: (_chart, low, high) => [Math.min((low ?? 0) * 1.05, 0), Math.max((high ?? 0) * 1.05, 4)] },
    },
    axes: [
      {
        ...axis,
        space: labelWidth,
        size: 32,
        gap: 10,
        incrs: [1, 2, 3, 7, 14, 30],
        values: (_chart, splits) => splits.map((split) => labels.start(starts[split] ?? "")),
      },
      {
        ...axis,
        size: widthOfNumbers,
        grid: { stroke: () => getComputedStyle(lines).color, width: 1 },
        incrs: steps,
        values: (_chart, splits) => splits.map(labels.number),
      },
    ],
    series: [{}, ...series.map((_, index) => drawn(series.length - 1 - index)), ...(earlier ? drawnEarlier : [])],
  };
}

/** Draws into the frame, which has an element of each series' colour (`data-place`), and says at which bar the pointer is. */
export function usePlot(plot: Plot, labels: PlotLabels, onPoint: (place: number | null) => void): RefObject<HTMLDivElement | null> {
  const frame = useRef<HTMLDivElement>(null);
  const latest = useRef({ labels, onPoint });
  latest.current = { labels, onPoint };

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const tell = (place: number | null) => latest.current.onPoint(place);
    const chart = new uPlot(optionsOf(plot, element, latest.current.labels, tell), stacked(plot), element);
    const resizes = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: plotHeight }));
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
      tell(null);
    };
  }, [plot]);
  return frame;
}
