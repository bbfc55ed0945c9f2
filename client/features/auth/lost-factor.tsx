import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { ApiProblem } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { FactorReset } from "#contract/factor-reset.ts";
import { hourMs } from "#domain/clock.ts";
import { factorResetWaitMs } from "#domain/periods.ts";
import styles from "./auth.module.css";
import { askForFactorReset } from "./auth-calls.ts";
import { StepHeading } from "./step-heading.tsx";

interface LostFactorProps {
  /** Of the sign-in that waits for its second factor. */
  token: string;
  onBack: () => void;
  onExpired: () => void;
}

/** For somebody who has neither the app nor a recovery code: asks for a link that comes after 72 hours. */
export function LostFactor({ token, onBack, onExpired }: LostFactorProps) {
  const { t } = useTranslation(["account", "auth", "errors"]);
  const { dateTime } = useFormat();
  const [reset, setReset] = useState<FactorReset>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function ask(): Promise<void> {
    if (busy || waitSeconds > 0) return;
    clear();
    setBusy(true);
    try {
      setReset(await askForFactorReset(token));
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "sign_in_expired") onExpired();
      else refuse(error);
    } finally {
      setBusy(false);
    }
  }

  const time = reset && dateTime(reset.until);
  return (
    <>
      <header className={styles.header}>
        <StepHeading key={reset ? "waiting" : "ask"}>{t(reset ? "account:lost.waiting.title" : "account:lost.ask.title")}</StepHeading>
        <p className={styles.lead}>
          {reset
            ? t(reset.status === "waiting" ? "account:lost.waiting.text" : "account:lost.waiting.sent", { time })
            : t("account:lost.ask.text", { hours: factorResetWaitMs / hourMs })}
        </p>
      </header>
      {note}
      <div className={styles.actions}>
        {!reset && (
          <Button
            variant="primary"
            wide
            busy={busy}
            busyLabel={t("account:lost.ask.busy")}
            aria-disabled={waitSeconds > 0}
            onClick={() => void ask()}
          >
            {t("account:lost.ask.submit")}
          </Button>
        )}
        <Button wide onClick={onBack}>
          {t("account:lost.ask.back")}
        </Button>
      </div>
    </>
  );
}
