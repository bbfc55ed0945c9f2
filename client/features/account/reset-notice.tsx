import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { showToast } from "#client/lib/interface-store.ts";
import { securityPath } from "#client/lib/security-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { FactorReset } from "#contract/auth/factor-reset.ts";
import styles from "./reset-notice.module.css";
import { cancelReset } from "./reset-store.ts";

/** On every page of a person whose second factor somebody wants to have removed. One click cancels that. */
export function ResetNotice({ reset }: { reset: FactorReset }) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const { dateTime } = useFormat();
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function cancel(): Promise<void> {
    if (busy || waitSeconds > 0) return;
    clear();
    setBusy(true);
    try {
      await cancelReset();
      const action = { label: t("account:lost.notice.password"), run: () => navigate(securityPath) };
      showToast({ title: t("account:lost.notice.done"), text: t("account:lost.notice.doneText"), action });
    } catch (error) {
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  const button = (
    <Button
      variant="danger"
      size="small"
      busy={busy}
      busyLabel={t("account:lost.notice.busy")}
      aria-disabled={waitSeconds > 0}
      onClick={() => void cancel()}
    >
      {t("account:lost.notice.submit")}
    </Button>
  );
  const words = reset.status === "waiting" ? "account:lost.notice.waiting" : "account:lost.notice.sent";
  return (
    <div className={styles.notice}>
      <Alert tone="danger" action={button}>
        {t(words, { time: dateTime(reset.until) })}
      </Alert>
      {note}
    </div>
  );
}
