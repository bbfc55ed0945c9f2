import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useAct } from "#client/components/use-act.ts";
import { formatBytes } from "#client/lib/format-bytes.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { DataExport } from "#contract/own-data.ts";
import { hourMs } from "#domain/clock.ts";
import { exportFileMs } from "#domain/periods.ts";
import styles from "./account.module.css";
import { LoadFailed } from "./load-failed.tsx";
import { RowsLoading } from "./rows-loading.tsx";
import { downloadExport, useExport } from "./use-export.ts";

function StateOf({ latest }: { latest: DataExport | null }) {
  const { t } = useTranslation("account");
  const { dateTime } = useFormat();
  switch (latest?.status) {
    case undefined:
      return null;
    case "making":
      return <Alert>{t("export.making")}</Alert>;
    case "failed":
      return <Alert tone="warning">{t("export.failed")}</Alert>;
    case "ready":
      return <Alert tone="good">{t("export.ready", { until: latest.expiresAt ? dateTime(latest.expiresAt) : "" })}</Alert>;
    case "expired":
      return <p className={styles.soft}>{t("export.expired")}</p>;
  }
}

/** A copy of all of one's data: asked for, made in the background, downloaded. */
export function ExportPanel() {
  const { t, i18n } = useTranslation(["account", "errors", "refusals"]);
  const { state, look, ask } = useExport();
  const { note, waitSeconds, busy, run } = useAct<"ask" | "download">();
  const latest = state.status === "known" ? state.value : null;
  const isMade = latest?.status !== "making" && latest?.status !== "failed";

  async function download({ id }: DataExport): Promise<void> {
    // When it was refused because its time is over, the page shows that.
    await downloadExport(id).finally(look);
  }

  return (
    <Panel name="export" title={t("account:export.title")}>
      <p>{t("account:export.text", { hours: exportFileMs / hourMs })}</p>
      {state.status === "loading" && <RowsLoading label={t("account:export.title")} rows={1} />}
      {state.status === "failed" && <LoadFailed onRetry={() => void look()}>{t("account:export.loadFailed")}</LoadFailed>}
      <StateOf latest={latest} />
      {note}
      <div className={styles.actions}>
        {latest?.status === "ready" && (
          <Button
            variant="primary"
            busy={busy === "download"}
            busyLabel={t("account:export.downloading")}
            onClick={() => void run("download", () => download(latest))}
          >
            {t("account:export.download", { size: formatBytes(latest.bytes ?? 0, i18n.language) })}
          </Button>
        )}
        {state.status === "known" && isMade && (
          <Button
            variant={latest?.status === "ready" ? "secondary" : "primary"}
            busy={busy === "ask"}
            busyLabel={t("account:export.asking")}
            aria-disabled={waitSeconds > 0}
            onClick={() => void run("ask", ask)}
          >
            {t(latest ? "account:export.again" : "account:export.ask")}
          </Button>
        )}
      </div>
    </Panel>
  );
}
