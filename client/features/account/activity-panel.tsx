import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useAct } from "#client/components/use-act.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Activity } from "#contract/account/activity.ts";
import styles from "./account.module.css";
import { activityText, networkText } from "./activity-text.ts";
import { Reading } from "./reading.tsx";
import { useActivity } from "./use-activity.ts";

function Row({ event }: { event: Activity }) {
  const { t } = useTranslation(["access"]);
  const { list, number, money, dateTime } = useFormat();
  return (
    <li className={styles.row}>
      <div>
        <p className={styles.what}>{activityText({ t, list, number, money }, event)}</p>
        <p className={styles.detail}>
          <time dateTime={event.at}>{dateTime(event.at)}</time>
          {event.network !== null && <span>{t("access:acts.from", { network: networkText(event.network) })}</span>}
        </p>
      </div>
    </li>
  );
}

/** What was done to the account, so that its owner notices what they didn't do. */
export function ActivityPanel() {
  const { t } = useTranslation(["account", "access", "errors", "refusals"]);
  const { more, ...reading } = useActivity();
  const { note, waitSeconds, busy, run } = useAct();
  return (
    <Panel name="activity" title={t("access:acts.title")} lead={[t("access:acts.lead")]}>
      <Reading {...reading} label={t("access:acts.title")} rows={5} failed={t("access:acts.loadFailed")}>
        {({ events, nextCursor }) => (
          <>
            {events.length === 0 ? (
              <p className={styles.soft}>{t("access:acts.empty")}</p>
            ) : (
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
                  busy={busy !== undefined}
                  busyLabel={t("access:acts.reading")}
                  aria-disabled={waitSeconds > 0}
                  onClick={() => void run("more", () => more(nextCursor))}
                >
                  {t("access:acts.more")}
                </Button>
              </div>
            )}
          </>
        )}
      </Reading>
    </Panel>
  );
}
