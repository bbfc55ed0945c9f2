import { Columns3 } from "lucide-react";
import type { FormEvent, ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { classNames } from "#client/components/class-names.ts";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { DropDown } from "./drop-down.tsx";
import type { Filter } from "./filter.ts";
import { FilterChips } from "./filter-chips.tsx";
import styles from "./table-tools.module.css";
import { useCsv } from "./use-csv.tsx";
import type { TableControls, TableQuery } from "./use-table.ts";

interface ToolsProps {
  filters: readonly Filter[];
  columns: readonly { name: string; label: string; sort?: string }[];
  shown: readonly string[];
  table: Pick<TableControls<never>, "query" | "filter" | "showColumns" | "sort">;
  download: (query: TableQuery) => Promise<Response>;
  children: ReactNode;
}

function FilterField({ filter, value, onChange }: { filter: Filter; value: string; onChange: (value: string) => void }) {
  const { name, label, options, isDay } = filter;
  if (isDay)
    return (
      <label className={styles.day}>
        {label}
        <input type="date" name={name} className={styles.control} value={value} onChange={(event) => onChange(event.target.value)} />
      </label>
    );
  if (!options)
    return (
      <input
        key={value}
        name={name}
        type="search"
        className={styles.control}
        aria-label={label}
        placeholder={label}
        defaultValue={value}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        maxLength={254}
        onBlur={(event) => {
          if (event.target.value.trim() !== value) onChange(event.target.value.trim());
        }}
      />
    );
  return (
    <select name={name} className={styles.control} aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{label}</option>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

function ColumnChoice({ columns, shown, table }: Pick<ToolsProps, "columns" | "shown" | "table">) {
  const { t } = useTranslation("admin");
  const [, ...others] = columns;
  return (
    <DropDown
      label={
        <>
          <Columns3 size={16} aria-hidden="true" />
          {t("table.columns")}
        </>
      }
    >
      {() => (
        <fieldset>
          <VisuallyHidden as="legend">{t("table.columns")}</VisuallyHidden>
          {others.map(({ name, label }) => (
            <label key={name} className={styles.option}>
              <input
                type="checkbox"
                checked={shown.includes(name)}
                onChange={(event) =>
                  table.showColumns(
                    columns.map((each) => each.name).filter((each) => (each === name ? event.target.checked : shown.includes(each))),
                  )
                }
              />
              {label}
            </label>
          ))}
        </fieldset>
      )}
    </DropDown>
  );
}

/** On a phone, where a table has no head to click on. */
function SortField({ columns, table: { query, sort } }: Pick<ToolsProps, "columns" | "table">) {
  const { t } = useTranslation("admin");
  const orders = columns.flatMap(({ label, sort: name }) =>
    name === undefined
      ? []
      : (["desc", "asc"] as const).map((order) => ({ name, order, label: t(`table.order.${order}`, { column: label }) })),
  );
  if (orders.length === 0) return null;
  return (
    <select
      className={classNames(styles.control, styles.sortField)}
      aria-label={t("table.sort")}
      value={query.sort ? `${query.sort} ${query.order ?? "desc"}` : ""}
      onChange={({ target }) => {
        const chosen = orders.find(({ name, order }) => `${name} ${order}` === target.value);
        if (chosen) sort(chosen.name, chosen.order);
      }}
    >
      <option value="" disabled>
        {t("table.sort")}
      </option>
      {orders.map(({ name, order, label }) => (
        <option key={`${name} ${order}`} value={`${name} ${order}`}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Above a table: its filters, which columns it shows, and all of it as a file. */
export function TableTools({ filters, columns, shown, table, download, children }: ToolsProps) {
  const { t } = useTranslation("admin");
  const { cursor: _first, ...whole } = table.query;
  const csv = useCsv(() => download(whole));

  function search(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    table.filter(Object.fromEntries(filters.map(({ name }) => [name, String(form.get(name) ?? "").trim()])));
  }

  return (
    <>
      <div className={styles.tools}>
        <form className={styles.filters} onSubmit={search}>
          {filters.map((filter) => (
            <FilterField
              key={filter.name}
              filter={filter}
              value={table.query[filter.name] ?? ""}
              onChange={(value) => table.filter({ [filter.name]: value })}
            />
          ))}
          <VisuallyHidden>
            <button type="submit" tabIndex={-1}>
              {t("table.search")}
            </button>
          </VisuallyHidden>
          <SortField columns={columns} table={table} />
        </form>
        <div className={styles.side}>
          {children}
          <ColumnChoice columns={columns} shown={shown} table={table} />
          {csv.button}
        </div>
      </div>
      <FilterChips filters={filters} table={table} />
      {csv.note}
    </>
  );
}
