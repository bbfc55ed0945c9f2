import type { ReactNode } from "react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import type { Results } from "#contract/admin/work.ts";
import { ActDialog } from "./act-dialog.tsx";
import type { DataTableProps } from "./data-table.tsx";
import { DataTable } from "./data-table.tsx";
import styles from "./person.module.css";

/** What is to be done, and with which rows. */
export interface Asked<Row> {
  title: string;
  danger?: boolean;
  /** What happens. */
  text?: string;
  rows: readonly Row[];
  act: (ids: string[], reason: string) => Promise<Results>;
}

interface Settled<Row> {
  rows: readonly Row[];
  results: Results["results"];
}

interface ResultsDialogProps<Row> {
  settled: Settled<Row>;
  nameOf: (row: Row) => string;
  onClose: () => void;
}

/** What became of each row. */
function ResultsDialog<Row extends { id: string }>({ settled: { rows, results }, nameOf, onClose }: ResultsDialogProps<Row>) {
  const { t } = useTranslation(["admin", "common"]);
  const names = new Map(rows.map((row) => [row.id, nameOf(row)]));
  return (
    <Dialog open onClose={onClose} title={t("admin:work.results")} actions={<Button onClick={onClose}>{t("common:close")}</Button>}>
      <ul className={styles.rows}>
        {results.map(({ id, outcome }) => (
          <li key={id} className={styles.row}>
            <span>{names.get(id)}</span>
            <Badge tone={outcome === "done" ? "good" : "warning"}>{t(`admin:work.outcome.${outcome}`)}</Badge>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

interface WorkTableProps<Row extends { id: string }> extends Omit<DataTableProps<Row>, "open" | "actions" | "choosing"> {
  /** The title of a row that is open. */
  titleOf: (row: Row) => string;
  /** Says which row it is among others like it. */
  nameOf: (row: Row) => string;
  /** A row in full. */
  view: (row: Row) => ReactNode;
  /** Whether something can be done with it. */
  isOpen: (row: Row) => boolean;
  /** What can be done with the rows: with one that is open, or with several that are chosen. */
  acts: (rows: readonly Row[], ask: (asked: Omit<Asked<Row>, "rows">) => void, readAgain: () => void) => ReactNode;
}

/** A table whose rows open in a dialog, and of which several can be acted on at once. It is read again after an act. */
export function WorkTable<Row extends { id: string }>({ titleOf, nameOf, view, isOpen, acts, ...table }: WorkTableProps<Row>) {
  const { t } = useTranslation("admin");
  const [opened, setOpened] = useState<Row>();
  const [asked, setAsked] = useState<Asked<Row>>();
  const [settled, setSettled] = useState<Settled<Row>>();
  const [version, setVersion] = useState(0);
  const answer = useRef<Results["results"]>([]);
  const actsOf = (rows: readonly Row[]) => acts(rows, (act) => setAsked({ ...act, rows }), readAgain);

  function readAgain(): void {
    setOpened(undefined);
    setVersion(version + 1);
  }

  function finish({ rows }: Asked<Row>): void {
    const results = answer.current;
    setAsked(undefined);
    readAgain();
    // If a single row succeeded, the table shows that; otherwise a dialog says what became of each.
    if (rows.length > 1 || results.some(({ outcome }) => outcome !== "done")) setSettled({ rows, results });
  }

  return (
    <>
      <DataTable key={version} {...table} choosing={{ nameOf, isChoosable: isOpen, acts: actsOf }} open={(row) => () => setOpened(row)} />
      <Dialog open={opened !== undefined} onClose={() => setOpened(undefined)} title={opened ? titleOf(opened) : ""}>
        {opened && (
          <div className={styles.block}>
            {view(opened)}
            {isOpen(opened) && <div className={styles.acts}>{actsOf([opened])}</div>}
          </div>
        )}
      </Dialog>
      {asked && (
        <ActDialog
          title={asked.title}
          action={asked.title}
          danger={asked.danger === true}
          onClose={() => setAsked(undefined)}
          act={async (reason) => {
            const ids = asked.rows.map(({ id }) => id);
            answer.current = (await asked.act(ids, reason)).results;
          }}
          onDone={() => finish(asked)}
        >
          {asked.text !== undefined && <p>{asked.text}</p>}
          {asked.rows.length > 1 && <p>{t("work.count", { rows: asked.rows.length })}</p>}
        </ActDialog>
      )}
      {settled && <ResultsDialog settled={settled} nameOf={nameOf} onClose={() => setSettled(undefined)} />}
    </>
  );
}
