import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useAct } from "#client/components/use-act.ts";
import { api } from "#client/lib/api.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { WaysIn } from "#contract/auth/security.ts";
import { minuteMs } from "#domain/clock.ts";
import { recoveryMs } from "#domain/periods.ts";
import styles from "./account.module.css";
import { PasswordDialog } from "./password-dialog.tsx";
import { Reading } from "./reading.tsx";
import { tellSecurityNews } from "./security-news.ts";
import { useRead } from "./use-read.ts";

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

function Password({ chosen, email }: { chosen: boolean; email: string }) {
  const { t } = useTranslation(["account", "auth"]);
  const { busy, waitSeconds, note, run } = useAct();
  const [sent, setSent] = useState(false);
  const [changing, setChanging] = useState(false);
  const send = async () => {
    await api("POST /api/auth/recover", { body: { email } });
    setSent(true);
  };
  return (
    <Way name={t("auth:password")} details={[t(chosen ? "account:waysIn.passwordSet" : "account:waysIn.passwordMissing")]}>
      {chosen ? (
        <Button size="small" onClick={() => setChanging(true)}>
          {t("account:password.submit")}
        </Button>
      ) : (
        <Button
          size="small"
          busy={busy !== undefined}
          busyLabel={t("account:waysIn.choosing")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void run("send", send)}
        >
          {t("account:waysIn.choose")}
        </Button>
      )}
      {(sent || note) && (
        <div className={styles.under}>
          {note ?? <Alert tone="good">{t("account:waysIn.sent", { email, minutes: recoveryMs / minuteMs })}</Alert>}
        </div>
      )}
      {changing && <PasswordDialog email={email} onClose={() => setChanging(false)} />}
    </Way>
  );
}

function Google({ ways, offered }: { ways: WaysIn; offered: boolean }) {
  const { t } = useTranslation("account");
  const { date } = useFormat();
  const { busy, waitSeconds, note, run } = useAct();
  const { google } = ways;
  async function link(): Promise<void> {
    const next = await withStepUp(() => api("POST /api/account/google/begin"));
    if (next) location.assign(next.url);
  }
  async function unlink(): Promise<void> {
    const done = await withStepUp(() => api("DELETE /api/account/google").then(() => true));
    if (!done) return;
    showToast({ title: t("waysIn.unlinked") });
    tellSecurityNews();
  }
  if (!google && !offered) return null;
  const isLast = google !== null && !ways.password && ways.passkeys === 0;
  return (
    <Way name="Google" details={google ? [google.email, t("waysIn.since", { date: date(google.linkedAt) })] : [t("waysIn.off")]}>
      {isLast ? null : (
        <Button
          size="small"
          busy={busy !== undefined}
          busyLabel={t(google ? "waysIn.unlinking" : "waysIn.linking")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void run("google", google ? unlink : link)}
        >
          {t(google ? "waysIn.unlink" : "waysIn.link")}
        </Button>
      )}
      {(isLast || note) && <div className={styles.under}>{note ?? <p className={styles.soft}>{t("waysIn.last")}</p>}</div>}
    </Way>
  );
}

const readWaysIn = () => api("GET /api/account/ways-in");

interface WaysInPanelProps {
  email: string;
  /** Whether one can sign in with Google here. */
  google: boolean;
}

/** How the person signs in, and what else could sign them in. The last way can't be removed. */
export function WaysInPanel({ email, google }: WaysInPanelProps) {
  const { t } = useTranslation("account");
  const { state, look } = useRead(readWaysIn);
  return (
    <Panel name="ways-in" title={t("waysIn.title")} lead={[t("waysIn.lead")]}>
      <Reading state={state} look={look} label={t("waysIn.title")} rows={2} failed={t("waysIn.loadFailed")}>
        {(ways) => (
          <ul className={styles.rows}>
            <Password chosen={ways.password} email={email} />
            <Google ways={ways} offered={google} />
          </ul>
        )}
      </Reading>
    </Panel>
  );
}
