import { useState } from "react";
import { useTranslation } from "react-i18next";
import { FigureTable } from "#client/components/figure-table.tsx";
import type { EarlierSeries, Series } from "#client/components/series-chart.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { Figures } from "#contract/figures.ts";
import styles from "./overview.module.css";
import { useStartNames } from "./use-start-names.ts";

interface ChartTableProps {
  title: string;
  starts: readonly string[];
  unit: Figures["unit"];
  series: readonly Series[];
  earlier: EarlierSeries | undefined;
  totalOf: ((place: number) => number) | undefined;
  format: ((value: number) => string) | undefined;
}

function Drawn({ title, starts, unit, series, earlier, totalOf, format }: ChartTableProps) {
  const { t } = useTranslation("figures");
  const { number } = useFormat();
  const { head, nameOf } = useStartNames({ unit });
  // Series that are drawn below zero are negated, so their zero is -0 and would be written "-0".
  const text = (value: number) => (format ?? number)(value === 0 ? 0 : value);
  // The total comes first, because many columns have to be scrolled. Columns of zeros are left out; the others keep their chart colours.
  const coloured = series.map((one, colour) => ({ ...one, colour }));
  const moved = coloured.filter(({ values }) => values.some((value) => value !== 0));
  const shown = moved.length > 0 ? moved : coloured;
  const cellsOf = (place: number) => {
    const before = earlier?.values[place] ?? null;
    const cells = shown.map(({ values }) => text(values[place] ?? 0));
    const beforeCells = earlier ? [before === null ? "–" : text(before)] : [];
    return totalOf ? [<strong key="total">{text(totalOf(place))}</strong>, ...beforeCells, ...cells] : [...cells, ...beforeCells];
  };
  const columns = shown.map(({ label, colour }) => ({ label, colour }));
  const beforeColumns = earlier ? [{ label: earlier.label }] : [];
  return (
    <FigureTable
      isDense
      label={t(`drawn.${unit}`, { title })}
      head={head}
      columns={totalOf ? [{ label: t("total") }, ...beforeColumns, ...columns] : [...columns, ...beforeColumns]}
      rows={starts.map((start, place) => ({ key: start, head: nameOf(start), cells: cellsOf(place) })).reverse()}
    />
  );
}

/** All that a chart draws, the latest first. The rows are rendered only when somebody opens the table: a year of days has many. */
export function ChartTable(props: ChartTableProps) {
  const { t } = useTranslation("figures");
  const [isOpen, setOpen] = useState(false);
  const { unit, title } = props;
  return (
    <details className={styles.drawn} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary aria-label={t(`drawn.${unit}`, { title })}>{t(`by.${unit}`)}</summary>
      {isOpen && <Drawn {...props} />}
    </details>
  );
}
