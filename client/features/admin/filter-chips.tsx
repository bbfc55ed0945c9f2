import { X } from "lucide-react";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Filter } from "./filter.ts";
import styles from "./filter-chips.module.css";
import type { TableControls } from "./use-table.ts";

/** What a table is filtered by, with each filter's name; a press removes that one. */
export function FilterChips({ filters, table }: { filters: readonly Filter[]; table: Pick<TableControls<never>, "query" | "filter"> }) {
  const { t } = useTranslation("admin");
  const { date } = useUtc();
  const chips = useRef<HTMLDivElement>(null);
  const set = filters.flatMap((filter) => {
    const value = table.query[filter.name];
    return value === undefined ? [] : [{ ...filter, value }];
  });
  const shownOf = ({ value, options, isDay }: (typeof set)[number]) =>
    options?.find((option) => option.value === value)?.label ?? (isDay && !Number.isNaN(Date.parse(value)) ? date(value) : value);
  function remove(names: readonly string[], place?: number): void {
    const all = [...(chips.current?.querySelectorAll<HTMLElement>("[data-chip]") ?? [])];
    const neighbour = place === undefined ? undefined : (all[place + 1] ?? all[place - 1]);
    table.filter(Object.fromEntries(names.map((name) => [name, undefined])));
    // The chip that had the focus is gone.
    (neighbour ?? chips.current)?.focus();
  }
  return (
    <div ref={chips} className={styles.chips} tabIndex={-1}>
      {set.map((filter, place) => {
        const label = t("table.chip", { label: filter.label, value: shownOf(filter) });
        return (
          <button
            key={filter.name}
            type="button"
            data-chip
            className={styles.chip}
            aria-label={t("table.unfilter", { filter: label })}
            onClick={() => remove([filter.name], place)}
          >
            <span className={styles.text}>{label}</span>
            <X size={14} aria-hidden="true" />
          </button>
        );
      })}
      {set.length > 1 && (
        <Button size="small" variant="quiet" onClick={() => remove(filters.map(({ name }) => name))}>
          {t("table.clear")}
        </Button>
      )}
    </div>
  );
}
