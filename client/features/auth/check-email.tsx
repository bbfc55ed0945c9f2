import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import styles from "./auth.module.css";
import { resendConfirmation } from "./auth-calls.ts";

/** Mail takes a moment; asking again at once only sends the same link twice. */
const coolDownSeconds = 30;

interface CheckEmailProps {
  email: string;
  /** The page on which the sandbox shows the mail it caught; null outside the sandbox. */
  sandboxUrl: string | null;
  onBack: () => void;
}

/** The step after signing up: nothing more to do here than to read mail. */
export function CheckEmail({ email, sandboxUrl, onBack }: CheckEmailProps) {
  const { t } = useTranslation(["auth", "errors"]);
  const [waitSeconds, setWaitSeconds] = useState(coolDownSeconds);
  const [state, setState] = useState<"idle" | "sending" | "sent">("idle");
  const [refusal, setRefusal] = useState<string>();
  const waiting = waitSeconds > 0;

  useEffect(() => {
    if (!waiting) return;
    const timer = setInterval(() => setWaitSeconds((seconds) => seconds - 1), 1000);
    return () => clearInterval(timer);
  }, [waiting]);

  async function resend(): Promise<void> {
    setState("sending");
    setRefusal(undefined);
    try {
      await resendConfirmation(email);
      setState("sent");
      setWaitSeconds(coolDownSeconds);
    } catch (error) {
      setState("idle");
      if (error instanceof ApiProblem) {
        setWaitSeconds(error.retryAfterSeconds ?? 0);
        setRefusal(problemText(error.code, error));
      } else setRefusal(problemText("network"));
    }
  }

  return (
    <>
      <header className={styles.header}>
        <h1>{t("auth:checkEmail.title")}</h1>
        <p className={styles.lead}>
          <RichText text={t("auth:checkEmail.sent", { email })} elements={{ strong: <strong className={styles.address} /> }} />
        </p>
      </header>
      <div className={styles.form}>
        {sandboxUrl !== null && (
          <Alert
            action={
              <a href={sandboxUrl} target="_blank" rel="noreferrer">
                {t("auth:checkEmail.sandboxLink")}
              </a>
            }
          >
            {t("auth:checkEmail.sandbox")}
          </Alert>
        )}
        {refusal && <Alert tone="danger">{refusal}</Alert>}
        <p>{t(state === "sent" ? "auth:checkEmail.resent" : "auth:checkEmail.nothing")}</p>
        <div className={styles.actions}>
          <Button disabled={waiting} busy={state === "sending"} busyLabel={t("auth:checkEmail.resending")} onClick={() => void resend()}>
            {waiting ? t("auth:checkEmail.wait", { count: waitSeconds }) : t("auth:checkEmail.resend")}
          </Button>
          <Button variant="quiet" onClick={onBack}>
            {t("auth:checkEmail.back")}
          </Button>
        </div>
      </div>
    </>
  );
}
