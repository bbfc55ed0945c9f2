import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { DeletionPending } from "#contract/auth.ts";
import styles from "./auth.module.css";
import { restoreAccount } from "./auth-calls.ts";
import { StepHeading } from "./step-heading.tsx";

/** Asks somebody who has deleted their account and signs in whether they want it back. */
export function RestoreStep({ pending, onBack }: { pending: DeletionPending; onBack: () => void }) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const { date } = useFormat();
  const { note, waitSeconds, refuse, clear } = useRefusal();
  const [busy, setBusy] = useState(false);

  async function restore(): Promise<void> {
    if (busy || waitSeconds > 0) return;
    clear();
    setBusy(true);
    await restoreAccount(pending.token).catch(refuse);
    setBusy(false);
  }

  return (
    <>
      <header className={styles.header}>
        <StepHeading>{t("steps:restore.title")}</StepHeading>
        <p className={styles.lead}>{t("steps:restore.lead", { date: date(pending.deleteAt) })}</p>
      </header>
      {note}
      <div className={styles.actions}>
        <Button
          variant="primary"
          wide
          busy={busy}
          busyLabel={t("steps:restore.busy")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void restore()}
        >
          {t("steps:restore.submit")}
        </Button>
        <Button wide onClick={onBack}>
          {t("steps:restore.leave")}
        </Button>
      </div>
    </>
  );
}
