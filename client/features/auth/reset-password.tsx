import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { paths, recoverPath } from "#client/paths.ts";
import { minuteMs } from "#domain/clock.ts";
import { recoveryMs } from "#domain/periods.ts";
import styles from "./auth.module.css";
import { lookAtRecovery } from "./auth-calls.ts";
import { LinkBusy } from "./mailed-link-parts.tsx";
import { NewPasswordForm } from "./new-password-form.tsx";
import { ReplaceSession } from "./replace-session.tsx";
import { Step } from "./step.tsx";

interface ResetPasswordProps {
  token: string;
  /** The email of the signed-in person, or null. */
  signedInAs: string | null;
  /** Called with the link's address as soon as it is known. */
  onEmail: (email: string) => void;
  /** Called when the person is signed in with the new password, or wants to stay signed in as they are. */
  onDone: () => void;
  /** Called when the person goes on without the link: to sign in, or to ask for another. */
  onInstead: () => void;
}

type State = "looking" | "changed" | { failure: string } | { email: string; replacing: boolean };

/** Opens the link from a mail that lets its owner choose a new password. */
export function ResetPassword({ token, signedInAs, onEmail, onDone, onInstead }: ResetPasswordProps) {
  const { t } = useTranslation(["auth", "steps"]);
  const [step, setStep] = useState<State>("looking");

  const look = useCallback(() => {
    setStep("looking");
    lookAtRecovery(token).then(
      ({ email }) => {
        onEmail(email);
        setStep({ email, replacing: false });
      },
      (error: unknown) => setStep({ failure: error instanceof ApiProblem ? error.code : "network" }),
    );
  }, [token, onEmail]);
  useEffect(look, [look]);

  if (step === "looking") return <LinkBusy title={t("recover.title")} />;
  if (step === "changed") return <Changed onSignIn={onInstead} />;
  if ("failure" in step) return <Failed code={step.failure} onAgain={look} onInstead={onInstead} />;
  const { email, replacing } = step;
  if (signedInAs !== null && signedInAs !== email && !replacing)
    return <ReplaceSession email={signedInAs} other={email} onStay={onDone} onUse={() => setStep({ email, replacing: true })} />;
  return (
    <NewPasswordForm
      token={token}
      email={email}
      onChanged={(signedIn) => (signedIn ? onDone() : setStep("changed"))}
      onSpent={(failure) => setStep({ failure })}
    />
  );
}

/** Shown in another browser than the one that asked for the link: there the new password signs in, and nothing else. */
function Changed({ onSignIn }: { onSignIn: () => void }) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <Step title={t("steps:reset.done.title")} lead={t("steps:reset.done.text")}>
      <LinkButton href={paths.auth} variant="primary" wide onClick={onSignIn}>
        {t("steps:confirm.signIn")}
      </LinkButton>
    </Step>
  );
}

function Failed({ code, onAgain, onInstead }: { code: string; onAgain: () => void; onInstead: () => void }) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  if (code !== "link_invalid") {
    return (
      <Step title={t("auth:recover.title")}>
        <Alert tone="danger">{problemText(code)}</Alert>
        <Button variant="primary" wide onClick={onAgain}>
          {t("steps:confirm.again")}
        </Button>
      </Step>
    );
  }
  return (
    <Step title={t("steps:reset.failed")} lead={t("steps:reset.spent", { minutes: recoveryMs / minuteMs })}>
      <div className={styles.ways}>
        <LinkButton href={recoverPath} variant="primary" wide onClick={onInstead}>
          {t("steps:reset.again")}
        </LinkButton>
        <LinkButton href={paths.auth} wide onClick={onInstead}>
          {t("steps:confirm.signIn")}
        </LinkButton>
      </div>
    </Step>
  );
}
