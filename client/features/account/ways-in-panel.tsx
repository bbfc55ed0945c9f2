import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Card } from "#client/components/card.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { api } from "#client/lib/api.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { WaysIn } from "#contract/security.ts";
import { minuteMs } from "#domain/clock.ts";
import { recoveryMs } from "#domain/periods.ts";
import styles from "./account.module.css";
import { RowsLoading } from "./rows-loading.tsx";
import { tellSecurityNews } from "./security-news.ts";
import type { WaysInState } from "./use-ways-in.ts";

interface WayProps {
  name: string;
  /** What is known of it. */
  details: readonly string[];
  /** What can be done with it. */
  children?: ReactNode;
}

function Way({ name, details, children }: WayProps) {
  return (
    <li className={styles.row}>
      <div>
        <p className={styles.what}>{name}</p>
        <p className={styles.detail}>
          {details.map((detail) => (
            <span key={detail}>{detail}</span>
          ))}
        </p>
      </div>
      {children}
    </li>
  );
}

/** One act at a time; its refusal is shown above the list. */
function useAct() {
  const refusal = useRefusal();
  const [busy, setBusy] = useState(false);
  async function run(act: () => Promise<void>): Promise<void> {
    if (busy || refusal.waitSeconds > 0) return;
    refusal.clear();
    setBusy(true);
    try {
      await act();
    } catch (error) {
      refusal.refuse(error);
    } finally {
      setBusy(false);
    }
  }
  return { busy, blocked: refusal.waitSeconds > 0, note: refusal.note, run };
}

function Password({ chosen, email }: { chosen: boolean; email: string }) {
  const { t } = useTranslation(["account", "auth"]);
  const { busy, blocked, note, run } = useAct();
  const [sent, setSent] = useState(false);
  const send = () =>
    run(async () => {
      await api("POST /api/auth/recover", { body: { email } });
      setSent(true);
    });
  return (
    <Way name={t("auth:password")} details={[t(chosen ? "account:waysIn.passwordSet" : "account:waysIn.passwordMissing")]}>
      {!chosen && (
        <Button size="small" busy={busy} busyLabel={t("account:waysIn.choosing")} aria-disabled={blocked} onClick={() => void send()}>
          {t("account:waysIn.choose")}
        </Button>
      )}
      {(sent || note) && (
        <div className={styles.under}>
          {note ?? <Alert tone="good">{t("account:waysIn.sent", { email, minutes: recoveryMs / minuteMs })}</Alert>}
        </div>
      )}
    </Way>
  );
}

function Google({ ways, offered }: { ways: WaysIn; offered: boolean }) {
  const { t } = useTranslation("account");
  const { date } = useFormat();
  const { busy, blocked, note, run } = useAct();
  const { google } = ways;
  const link = () =>
    run(async () => {
      const next = await withStepUp(() => api("POST /api/account/google/begin"));
      if (next) location.assign(next.url);
    });
  const unlink = () =>
    run(async () => {
      const done = await withStepUp(async () => {
        await api("DELETE /api/account/google");
        return true;
      });
      if (!done) return;
      showToast({ title: t("waysIn.unlinked") });
      tellSecurityNews();
    });
  if (!google && !offered) return null;
  const isLast = google !== null && !ways.password && ways.passkeys === 0;
  return (
    <Way name="Google" details={google ? [google.email, t("waysIn.since", { date: date(google.linkedAt) })] : [t("waysIn.off")]}>
      {isLast ? null : (
        <Button
          size="small"
          busy={busy}
          busyLabel={t(google ? "waysIn.unlinking" : "waysIn.linking")}
          aria-disabled={blocked}
          onClick={() => void (google ? unlink() : link())}
        >
          {t(google ? "waysIn.unlink" : "waysIn.link")}
        </Button>
      )}
      {(isLast || note) && <div className={styles.under}>{note ?? <p className={styles.soft}>{t("waysIn.last")}</p>}</div>}
    </Way>
  );
}

interface WaysInPanelProps {
  email: string;
  state: WaysInState;
  look: () => void;
  /** Whether one can sign in with Google here. */
  google: boolean;
}

/** How the person signs in, and what else could sign them in. The last way can't be removed. */
export function WaysInPanel({ email, state, look, google }: WaysInPanelProps) {
  const { t } = useTranslation("account");
  return (
    <Card as="section" className={styles.list ?? ""} aria-labelledby="ways-in-title">
      <h2 id="ways-in-title">{t("waysIn.title")}</h2>
      <p className={styles.lead}>{t("waysIn.lead")}</p>
      {state.status === "loading" && <RowsLoading label={t("waysIn.title")} rows={2} />}
      {state.status === "failed" && (
        <Alert
          tone="warning"
          action={
            <Button size="small" onClick={look}>
              {t("retry")}
            </Button>
          }
        >
          {t("waysIn.loadFailed")}
        </Alert>
      )}
      {state.status === "known" && (
        <ul className={styles.rows}>
          <Password chosen={state.ways.password} email={email} />
          <Google ways={state.ways} offered={google} />
        </ul>
      )}
    </Card>
  );
}
