import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { ResendButton, useResend } from "#client/components/resend.tsx";
import { minuteMs } from "#domain/clock.ts";
import { recoveryMs } from "#domain/periods.ts";
import styles from "./auth.module.css";
import { askForRecovery, resendConfirmation } from "./auth-calls.ts";
import { Step } from "./step.tsx";

export interface AwaitedMail {
  /** `confirm`: after signing up, or signing in too early. `recover`: after asking for a new password. */
  kind: "confirm" | "recover";
  /** True if we have just sent the link. False if the person tried to sign in before opening one; they may then ask for another at once. */
  justSent: boolean;
}

interface CheckEmailProps extends AwaitedMail {
  email: string;
  /** The page where the sandbox shows the mails it caught; null outside the sandbox. */
  sandboxUrl: string | null;
  onBack: () => void;
}

/** The step in which the person has to open the link in a mail. */
export function CheckEmail({ kind, email, justSent, sandboxUrl, onBack }: CheckEmailProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const resending = useResend(() => (kind === "confirm" ? resendConfirmation(email) : askForRecovery(email)), { justSent });
  const lead =
    kind === "recover"
      ? t("steps:recover.sent", { email, minutes: recoveryMs / minuteMs })
      : t(justSent ? "steps:checkEmail.sent" : "steps:checkEmail.unconfirmed", { email });

  return (
    <Step title={t("steps:checkEmail.title")} lead={lead}>
      {sandboxUrl !== null && (
        <Alert
          action={
            <a href={sandboxUrl} target="_blank" rel="noreferrer">
              {t("steps:checkEmail.sandboxLink")}
            </a>
          }
        >
          {t("steps:checkEmail.sandbox")}
        </Alert>
      )}
      {resending.note}
      <p>{t(resending.state === "sent" ? "steps:checkEmail.resent" : "steps:checkEmail.nothing")}</p>
      <div className={styles.ways}>
        <ResendButton resending={resending} wide />
        <Button variant="quiet" wide onClick={onBack}>
          {t("steps:checkEmail.back")}
        </Button>
      </div>
    </Step>
  );
}
