import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { mostRows } from "#domain/tables.ts";
import styles from "./data-table.module.css";
import type { TablePage, TableQuery } from "./use-table.ts";

/** For a table of which several rows can be acted on at once. */
export interface Choosing<Row> {
  /** Names the row for screen readers. */
  nameOf: (row: Row) => string;
  /** False if nothing can be done with the row; it has no checkbox then. */
  isChoosable: (row: Row) => boolean;
  /** The buttons for the chosen rows; at least one row is chosen. */
  acts: (chosen: readonly Row[]) => ReactNode;
}

export interface RowChoice<Row> {
  chosen: ReadonlyMap<string, Row>;
  toggle: (rows: readonly Row[], isChosen: boolean) => void;
}

/** Which rows are chosen, also on other pages. There are never more than can be acted on at once. */
export function useRowChoice<Row extends { id: string }>(): RowChoice<Row> {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Row>>(new Map());
  const toggle = (rows: readonly Row[], isChosen: boolean) =>
    setChosen((before) => {
      const next = new Map(before);
      for (const row of rows) {
        if (!isChosen) next.delete(row.id);
        else if (next.size < mostRows) next.set(row.id, row);
      }
      return next;
    });
  return { chosen, toggle };
}

interface ChoiceBarProps<Row extends { id: string }> {
  choosing: Choosing<Row>;
  choice: RowChoice<Row>;
  query: TableQuery;
  load: (query: TableQuery, signal: AbortSignal) => Promise<TablePage<Row>>;
}

/** How many rows are chosen, and what can be done with them. "All" chooses the first of the matching rows, up to the limit. */
export function ChoiceBar<Row extends { id: string }>({ choosing, choice: { chosen, toggle }, query, load }: ChoiceBarProps<Row>) {
  const { t } = useTranslation("admin");
  const { number } = useFormat();
  const [state, setState] = useState<"idle" | "reading" | "failed">("idle");

  async function chooseAll(): Promise<void> {
    setState("reading");
    const { cursor: _page, ...matching } = query;
    try {
      const { rows } = await load({ ...matching, limit: String(mostRows) }, new AbortController().signal);
      toggle(rows.filter(choosing.isChoosable), true);
      setState("idle");
    } catch {
      setState("failed");
    }
  }

  return (
    <>
      <div className={styles.chosen}>
        <span role="status">{t("table.chosen", { chosen: number(chosen.size), most: number(mostRows) })}</span>
        <Button size="small" variant="quiet" busy={state === "reading"} busyLabel={t("table.reading")} onClick={() => void chooseAll()}>
          {t("table.chooseAll")}
        </Button>
        {chosen.size > 0 && (
          <>
            <Button size="small" variant="quiet" onClick={() => toggle([...chosen.values()], false)}>
              {t("table.chooseNone")}
            </Button>
            {choosing.acts([...chosen.values()])}
          </>
        )}
      </div>
      {state === "failed" && <Alert tone="warning">{t("table.failed")}</Alert>}
    </>
  );
}
