import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useAct } from "#client/components/use-act.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { OwnSession } from "#contract/auth/security.ts";
import { dayMs } from "#domain/clock.ts";
import styles from "./account.module.css";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { notLater } from "./not-later.ts";
import { cityOf } from "./place.ts";
import { Reading } from "./reading.tsx";
import { useHeadingFocus } from "./use-heading-focus.ts";
import { useSessions } from "./use-sessions.ts";

function useSessionTexts() {
  const { t } = useTranslation("account");
  const { relative, date } = useFormat();
  return {
    device: ({ browser, system }: OwnSession): string =>
      browser !== null && system !== null ? t("sessions.device", { browser, system }) : (browser ?? system ?? t("sessions.unknownDevice")),
    place: ({ timeZone }: OwnSession): string | undefined => {
      const city = timeZone === null ? undefined : cityOf(timeZone);
      return city === undefined ? undefined : t("sessions.place", { city });
    },
    lastUse: ({ lastUsedAt }: OwnSession, readAt: Date): string => {
      const at = notLater(lastUsedAt, readAt);
      const isRecent = readAt.getTime() - at.getTime() < 7 * dayMs;
      return t("sessions.lastUse", { when: isRecent ? relative(at, readAt) : date(at) });
    },
    firstUse: ({ createdAt }: OwnSession): string => t("sessions.firstUse", { date: date(createdAt) }),
  };
}

interface RowProps {
  session: OwnSession;
  readAt: Date;
  busy: boolean;
  blocked: boolean;
  onEnd: () => void;
}

function Row({ session, readAt, busy, blocked, onEnd }: RowProps) {
  const { t } = useTranslation("account");
  const { device, place, lastUse, firstUse } = useSessionTexts();
  const id = useId();
  const city = place(session);
  return (
    <li className={styles.row}>
      <div>
        <p className={styles.what}>
          <span id={`${id}-device`}>{device(session)}</span>
          {session.current && <Badge tone="good">{t("sessions.current")}</Badge>}
        </p>
        <p className={styles.detail}>
          {city !== undefined && <span>{city}</span>}
          <span>{lastUse(session, readAt)}</span>
          <span>{firstUse(session)}</span>
        </p>
      </div>
      {!session.current && (
        <Button
          id={`${id}-end`}
          size="small"
          busy={busy}
          busyLabel={t("sessions.ending")}
          aria-disabled={blocked}
          aria-labelledby={`${id}-end ${id}-device`}
          onClick={onEnd}
        >
          {t("signOut")}
        </Button>
      )}
    </li>
  );
}

/** Ends one session, or all others, one act at a time. */
function useEnding({ end, endOthers }: Pick<ReturnType<typeof useSessions>, "end" | "endOthers">) {
  const { t } = useTranslation(["account", "errors", "refusals"]);
  const { device } = useSessionTexts();
  const { heading, focusHeading } = useHeadingFocus();
  const { busy, run, ...refusal } = useAct();
  const [asking, setAsking] = useState(false);

  const endWith = (name: string, act: () => Promise<string>) =>
    run(name, async () => {
      const title = await act();
      setAsking(false);
      showToast({ title });
      focusHeading();
    });

  const endSession = (session: OwnSession) =>
    endWith(session.id, async () => {
      await end(session.id);
      return t("account:sessions.ended", { device: device(session) });
    });
  const endAll = () => endWith("others", async () => t("account:sessions.endedOthers", { count: await endOthers() }));
  function ask(open: boolean): void {
    refusal.clear();
    setAsking(open);
  }
  return { heading, refusal, busy, asking, ask, endSession, endAll };
}

/** Where the person is signed in; each sign-in but this one can be ended. */
export function SessionsPanel() {
  const { t } = useTranslation("account");
  const { state, look, ...acts } = useSessions();
  const { heading, refusal, busy, asking, ask, endSession, endAll } = useEnding(acts);
  return (
    <Panel name="sessions" title={t("sessions.title")} heading={heading} lead={[t("sessions.lead")]}>
      {!asking && refusal.note}
      <Reading state={state} look={look} label={t("sessions.title")} rows={2} failed={t("sessions.loadFailed")}>
        {(sessions, readAt) => (
          <>
            <ul className={styles.rows}>
              {sessions.map((session) => (
                <Row
                  key={session.id}
                  session={session}
                  readAt={readAt}
                  busy={busy === session.id}
                  blocked={refusal.waitSeconds > 0}
                  onEnd={() => void endSession(session)}
                />
              ))}
            </ul>
            {sessions.every(({ current }) => current) ? (
              <p className={styles.soft}>{t("sessions.onlyHere")}</p>
            ) : (
              <div className={styles.actions}>
                <Button onClick={() => ask(true)}>{t("sessions.endOthers")}</Button>
              </div>
            )}
          </>
        )}
      </Reading>
      <ConfirmDialog
        open={asking}
        onClose={() => ask(false)}
        title={t("sessions.confirmTitle")}
        action={{ label: t("sessions.endOthers"), busyLabel: t("sessions.ending"), busy: busy === "others", run: () => void endAll() }}
        refusal={refusal}
      >
        {t("sessions.confirmText")}
      </ConfirmDialog>
    </Panel>
  );
}
