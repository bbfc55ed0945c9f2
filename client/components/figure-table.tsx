import type { ReactNode } from "react";
import { ChartColour } from "./chart-colours.tsx";
import { classNames } from "./class-names.ts";
import styles from "./figure-table.module.css";

interface FigureColumn {
  label: string;
  /** Its place among the colours of the chart. */
  colour?: number | undefined;
}

interface FigureRow {
  key: string;
  head: ReactNode;
  colour?: number | undefined;
  cells: readonly ReactNode[];
}

interface FigureTableProps {
  label: string;
  head: string;
  columns: readonly FigureColumn[];
  rows: readonly FigureRow[];
  /** The line that sums up the others. */
  total?: FigureRow;
  /** For tables that stand beside a chart. */
  isDense?: boolean;
}

/** Focusable, so that the keyboard can scroll it. A group, because the part of the page around it is a region of the same name. */
const scrollable = (label: string) => ({ tabIndex: 0, role: "group", "aria-label": label });

function Row({ row, columns }: { row: FigureRow; columns: readonly FigureColumn[] }) {
  return (
    <tr>
      <th scope="row">
        {row.colour !== undefined && <ChartColour place={row.colour} />}
        {row.head}
      </th>
      {columns.map(({ label }, index) => (
        <td key={label}>{row.cells[index]}</td>
      ))}
    </tr>
  );
}

/** The figures of a chart, or what belongs to them. */
export function FigureTable({ label, head, columns, rows, total, isDense }: FigureTableProps) {
  return (
    <div className={styles.scrolls} {...scrollable(label)}>
      <table className={classNames(styles.table, isDense && styles.dense)}>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            {columns.map(({ label: name, colour }) => (
              <th key={name} scope="col">
                {colour !== undefined && <ChartColour place={colour} />}
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.key} row={row} columns={columns} />
          ))}
        </tbody>
        {total && (
          <tfoot>
            <Row row={total} columns={columns} />
          </tfoot>
        )}
      </table>
    </div>
  );
}
