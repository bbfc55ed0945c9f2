import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Card } from "#client/components/card.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { Activity } from "#contract/security.ts";
import styles from "./account.module.css";
import { activityText, networkText } from "./activity-text.ts";
import { RowsLoading } from "./rows-loading.tsx";
import { useActivity } from "./use-activity.ts";

function Row({ event }: { event: Activity }) {
  const { t } = useTranslation("account");
  const { list, dateTime } = useFormat();
  return (
    <li className={styles.row}>
      <div>
        <p className={styles.what}>{activityText({ t, list }, event)}</p>
        <p className={styles.detail}>
          <time dateTime={event.at}>{dateTime(event.at)}</time>
          {event.network !== null && <span>{t("activity.from", { network: networkText(event.network) })}</span>}
        </p>
      </div>
    </li>
  );
}

/** What was done to the account, so that its owner notices what they didn't do. */
export function ActivityPanel() {
  const { t } = useTranslation(["account", "errors", "refusals"]);
  const { state, look, more } = useActivity();
  const { note, waitSeconds, refuse, clear } = useRefusal();
  const [busy, setBusy] = useState(false);

  async function showMore(cursor: string): Promise<void> {
    if (busy || waitSeconds > 0) return;
    clear();
    setBusy(true);
    await more(cursor).catch((error: unknown) => refuse(error));
    setBusy(false);
  }

  const { events, nextCursor } = state.status === "known" ? state : { events: [], nextCursor: null };
  return (
    <Card as="section" className={styles.list ?? ""} aria-labelledby="activity-title">
      <h2 id="activity-title">{t("account:activity.title")}</h2>
      <p className={styles.lead}>{t("account:activity.lead")}</p>
      {state.status === "loading" && <RowsLoading label={t("account:activity.title")} rows={5} />}
      {state.status === "failed" && (
        <Alert
          tone="warning"
          action={
            <Button size="small" onClick={look}>
              {t("account:retry")}
            </Button>
          }
        >
          {t("account:activity.loadFailed")}
        </Alert>
      )}
      {state.status === "known" && events.length === 0 && <p className={styles.soft}>{t("account:activity.empty")}</p>}
      {events.length > 0 && (
        <ul className={styles.rows}>
          {events.map((event) => (
            <Row key={event.id} event={event} />
          ))}
        </ul>
      )}
      {note}
      {nextCursor !== null && (
        <div className={styles.actions}>
          <Button
            busy={busy}
            busyLabel={t("account:activity.reading")}
            aria-disabled={waitSeconds > 0}
            onClick={() => void showMore(nextCursor)}
          >
            {t("account:activity.more")}
          </Button>
        </div>
      )}
    </Card>
  );
}
