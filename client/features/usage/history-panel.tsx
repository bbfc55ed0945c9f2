import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { LedgerLines } from "#client/components/ledger-lines.tsx";
import { Panel } from "#client/components/panel.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useAct } from "#client/components/use-act.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import { HistoryFilters } from "./history-filters.tsx";
import styles from "./usage.module.css";
import { useFilter } from "./use-filter.ts";
import type { History } from "./use-history.ts";
import { downloadHistory, useHistory } from "./use-history.ts";

/** What stands below the lines: that there are none, how far the search came, or that this is where the history began. */
function useEnd(isFiltered: boolean): (history: History & { status: "known" }) => string | null {
  const { t } = useTranslation(["usage", "billing"]);
  const { date } = useUtc();
  return ({ lines, nextCursor, readTo }) => {
    if (nextCursor !== null) return readTo === null ? null : t("usage:history.readTo", { date: date(readTo) });
    if (isFiltered) return lines.length === 0 ? t("usage:history.none") : t("usage:history.end");
    return lines.length === 0 ? t("billing:ledger.empty") : t("usage:history.oldest");
  };
}

/** Every entry of the ledger, with filters, and as a file. */
export function HistoryPanel() {
  const { t } = useTranslation(["usage", "billing", "common"]);
  const calendar = useUtc();
  const { filter, change, isFiltered } = useFilter();
  const { state, begin, more } = useHistory(filter);
  const { note, waitSeconds, busy, run } = useAct<"more" | "download">();
  const end = useEnd(isFiltered);
  const again = (
    <Button size="small" onClick={begin}>
      {t("common:retry")}
    </Button>
  );
  const download = (
    <Button
      size="small"
      busy={busy === "download"}
      busyLabel={t("usage:history.downloading")}
      aria-disabled={waitSeconds > 0}
      onClick={() => void run("download", () => downloadHistory(filter))}
    >
      {t("usage:history.download")}
    </Button>
  );
  return (
    <Panel name="history" title={t("usage:history.title")} lead={[t("usage:history.lead")]} aside={download}>
      <HistoryFilters filter={filter} isFiltered={isFiltered} onChange={change} />
      {state.status === "loading" && <Spinner label={t("usage:history.reading")} />}
      {state.status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("usage:history.failed")}
        </Alert>
      )}
      {state.status === "known" && (
        <>
          <LedgerLines lines={state.lines} calendar={calendar} />
          <p className={styles.lead} role="status">
            {end(state)}
          </p>
        </>
      )}
      {note}
      {state.status === "known" && state.nextCursor !== null && (
        <Button
          busy={busy === "more"}
          busyLabel={t("usage:history.reading")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void run("more", more)}
        >
          {state.readTo === null ? t("usage:history.older") : t("usage:history.goOn")}
        </Button>
      )}
    </Panel>
  );
}
