import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { PasswordForm } from "#client/components/password-form.tsx";
import { useAct } from "#client/components/use-act.ts";
import { ApiProblem } from "#client/lib/api.ts";
import styles from "./auth.module.css";
import { confirmAddress, disownSignUp } from "./auth-calls.ts";
import { Step } from "./step.tsx";
import { unlessCode } from "./unless-code.ts";

interface ConfirmPasswordProps {
  token: string;
  /** The address that the link belongs to. */
  email: string;
  onConfirmed: () => void;
  onDisowned: () => void;
  /** The link has expired or was used meanwhile. */
  onSpent: (code: string) => void;
}

/**
 * Shown when a link is opened in another browser than the one that signed up: it asks for the password chosen there. The
 * address's owner can also say that it was not them.
 */
export function ConfirmPassword({ token, email, onConfirmed, onDisowned, onSpent }: ConfirmPasswordProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const { note, waitSeconds, busy, run } = useAct();
  const unlessSpent = unlessCode("link_invalid", ({ code }) => onSpent(code));
  return (
    <Step title={t("steps:confirm.password.title")} lead={t("steps:confirm.password.lead", { email })}>
      <PasswordForm
        email={email}
        send={(password) => confirmAddress(token, password).then(onConfirmed).catch(unlessSpent)}
        wordsOf={(error) =>
          error instanceof ApiProblem && error.code === "invalid_credentials" ? t("steps:confirm.password.wrong") : undefined
        }
        submit={{ label: t("steps:confirm.password.submit"), busyLabel: t("steps:confirm.password.busy") }}
      />
      <div className={styles.other}>
        <p>{t("steps:confirm.disown.hint")}</p>
        {note}
        <Button
          busy={busy !== undefined}
          busyLabel={t("steps:confirm.disown.busy")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void run("disown", () => disownSignUp(token).then(onDisowned).catch(unlessSpent))}
        >
          {t("steps:confirm.disown.action")}
        </Button>
      </div>
    </Step>
  );
}
