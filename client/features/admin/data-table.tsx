import { ArrowDown, ArrowUp, ChevronsUpDown } from "lucide-react";
import type { KeyboardEvent, ReactNode } from "react";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { classNames } from "#client/components/class-names.ts";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { ListName } from "#domain/tables.ts";
import { mostFound } from "#domain/tables.ts";
import styles from "./data-table.module.css";
import type { Filter } from "./filter.ts";
import { useKeptAddress } from "./list-addresses.ts";
import type { Choosing, RowChoice } from "./row-choice.tsx";
import { ChoiceBar, useRowChoice } from "./row-choice.tsx";
import { SavedViews } from "./saved-views.tsx";
import { TableTools } from "./table-tools.tsx";
import type { TableControls, TablePage, TableQuery } from "./use-table.ts";
import { useTable } from "./use-table.ts";

export interface Column<Row> {
  name: string;
  label: string;
  cell: (row: Row) => ReactNode;
  /** The name of the order that the server has for it. */
  sort?: string;
  /** Stands at the end of its column, in figures of one width. */
  isNumber?: boolean;
  /** A day and a time, which stay in one line. */
  isTime?: boolean;
  /** Shown only if it is chosen. */
  isExtra?: boolean;
}

export interface DataTableProps<Row extends { id: string }> {
  /** The name under which the server keeps saved views of this list. */
  list: ListName;
  label: string;
  /** The first one opens the row. */
  columns: readonly [Column<Row>, ...Column<Row>[]];
  filters: readonly Filter[];
  /** Must stay the same function. */
  load: (query: TableQuery, signal: AbortSignal) => Promise<TablePage<Row>>;
  download: (query: TableQuery) => Promise<Response>;
  /** The row's address, or a function that opens the row on this page. Missing if a row has nothing more to show. */
  open?: ((row: Row) => string | (() => void)) | undefined;
  /** The title of an empty list without filters. */
  empty: string;
  /** The text below that title: what the list would show. */
  emptyText?: string;
  /** Above the table, beside its tools: what can be done with it. */
  actions?: (read: () => void) => ReactNode;
  /** Given if several rows can be acted on at once. */
  choosing?: Choosing<Row> | undefined;
}

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

/** The arrow keys go from row to row, and from box to box. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key];
  const row = (event.target as HTMLElement).closest("tr");
  if (!step || !row) return;
  const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
  const isBox = (event.target as HTMLElement).matches("input");
  const control = next?.querySelector<HTMLElement>(isBox ? "input" : "a, button");
  if (!control) return;
  event.preventDefault();
  control.focus();
}

function HeadCell<Row>({ column, query, sort }: { column: Column<Row>; query: TableQuery; sort: TableControls<Row>["sort"] }) {
  const { label, sort: order, isNumber } = column;
  const isSorted = order !== undefined && query.sort === order;
  const next = isSorted && query.order !== "asc" ? "asc" : "desc";
  const Arrow = query.order === "asc" ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      className={isNumber ? styles.number : undefined}
      aria-sort={isSorted ? (query.order === "asc" ? "ascending" : "descending") : undefined}
    >
      {order === undefined ? (
        label
      ) : (
        <button type="button" className={styles.sort} onClick={() => sort(order, next)}>
          {label}
          {isSorted ? <Arrow size={14} aria-hidden="true" /> : <ChevronsUpDown size={14} className={styles.sortable} aria-hidden="true" />}
        </button>
      )}
    </th>
  );
}

function Opener({ to, children }: { to: string | (() => void); children: ReactNode }) {
  if (typeof to === "string")
    return (
      <Link href={to} className={styles.open}>
        {children}
      </Link>
    );
  return (
    <button type="button" className={styles.open} onClick={to}>
      {children}
    </button>
  );
}

interface BoxesProps<Row extends { id: string }> {
  rows: readonly Row[];
  label: string;
  choice: RowChoice<Row>;
}

/** Chooses the rows; half-checked if only some of them are chosen. */
function Box<Row extends { id: string }>({ rows, label, choice: { chosen, toggle } }: BoxesProps<Row>) {
  const count = rows.filter(({ id }) => chosen.has(id)).length;
  const isAll = rows.length > 0 && count === rows.length;
  return (
    <input
      type="checkbox"
      className={styles.box}
      aria-label={label}
      checked={isAll}
      disabled={rows.length === 0}
      ref={(box) => {
        if (box) box.indeterminate = count > 0 && !isAll;
      }}
      onChange={() => toggle(rows, !isAll)}
    />
  );
}

type RowsProps<Row extends { id: string }> = Pick<DataTableProps<Row>, "label" | "open" | "choosing"> & {
  choice: RowChoice<Row>;
  columns: readonly Column<Row>[];
  table: TableControls<Row>;
  page: TablePage<Row>;
  isLoading: boolean;
};

function Rows<Row extends { id: string }>({ label, columns, open, choosing, choice, table, page, isLoading }: RowsProps<Row>) {
  const { t } = useTranslation("admin");
  const boxOf = (row: Row) =>
    choosing?.isChoosable(row) && <Box rows={[row]} label={t("table.choose", { row: choosing.nameOf(row) })} choice={choice} />;
  return (
    <table className={styles.table} aria-label={label} aria-busy={isLoading}>
      <thead>
        <tr>
          {choosing && (
            <th scope="col" className={styles.boxes}>
              <Box rows={page.rows.filter(choosing.isChoosable)} label={t("table.choosePage")} choice={choice} />
            </th>
          )}
          {columns.map((column) => (
            <HeadCell key={column.name} column={column} query={table.query} sort={table.sort} />
          ))}
        </tr>
      </thead>
      <tbody onKeyDown={moveFocus}>
        {page.rows.map((row) => (
          <tr key={row.id} data-chosen={choice.chosen.has(row.id) || undefined}>
            {choosing && <td className={styles.boxes}>{boxOf(row)}</td>}
            {columns.map(({ name, label: columnLabel, cell, isNumber, isTime }, index) => (
              <td
                key={name}
                data-label={columnLabel}
                className={classNames(isNumber && styles.number, isTime && styles.time, index === 0 && styles.first)}
              >
                {index === 0 && open ? <Opener to={open(row)}>{cell(row)}</Opener> : cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Pages<Row>({ table: { next, previous } }: { table: TableControls<Row> }) {
  const { t } = useTranslation("admin");
  if (!next && !previous) return null;
  return (
    <div className={styles.pages}>
      <Button size="small" disabled={!previous} onClick={previous}>
        {t("table.previous")}
      </Button>
      <Button size="small" disabled={!next} onClick={next}>
        {t("table.next")}
      </Button>
    </div>
  );
}

/** If a list's rows are filtered page by page, one page may be empty while later ones are not. */
function Nothing<Row>({ table, empty, emptyText }: { table: TableControls<Row>; empty: string; emptyText: string | undefined }) {
  const { t } = useTranslation("admin");
  if (table.next) return <EmptyState title={t("table.nothingHere")} />;
  return <EmptyState title={table.isFiltered ? t("table.nothing") : empty}>{!table.isFiltered && emptyText}</EmptyState>;
}

/** Every list of the panel: filters, order and page are in its address; on a phone each row is a card. */
export function DataTable<Row extends { id: string }>({
  list,
  label,
  columns,
  filters,
  load,
  download,
  open,
  empty,
  emptyText,
  actions,
  choosing,
}: DataTableProps<Row>) {
  const { t } = useTranslation(["admin", "common"]);
  const { number } = useFormat();
  const top = useRef<HTMLDivElement>(null);
  useKeptAddress();
  const table = useTable({ filters: filters.map(({ name }) => name), load });
  const choice = useRowChoice<Row>();
  const { state, columns: chosen } = table;
  const shown = columns.filter(({ name, isExtra }, index) => index === 0 || (chosen ? chosen.includes(name) : !isExtra));
  const again = (
    <Button size="small" onClick={table.read}>
      {t("common:retry")}
    </Button>
  );
  return (
    <div ref={top} className={styles.whole}>
      <SavedViews list={list} />
      <TableTools filters={filters} columns={columns} shown={shown.map(({ name }) => name)} table={table} download={download}>
        {actions?.(table.read)}
      </TableTools>
      {state.status === "loading" && <Spinner label={t("admin:table.reading")} />}
      {state.status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("admin:table.failed")}
        </Alert>
      )}
      {state.status === "known" && state.page.isCut && <Alert>{t("admin:table.cut", { most: number(mostFound) })}</Alert>}
      {state.status === "known" && state.page.rows.length === 0 && <Nothing table={table} empty={empty} emptyText={emptyText} />}
      {state.status === "known" && state.page.rows.length > 0 && (
        <>
          {choosing && <ChoiceBar choosing={choosing} choice={choice} query={table.query} load={load} />}
          <Rows {...{ label, open, choosing, choice, table }} columns={shown} page={state.page} isLoading={state.isLoading} />
        </>
      )}
      {state.status === "known" && <Pages table={table} />}
    </div>
  );
}
