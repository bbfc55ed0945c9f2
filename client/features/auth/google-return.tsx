/** What comes after Google has sent somebody back to the sign-in page. */
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import styles from "./auth.module.css";
import { finishGoogle, linkGoogle } from "./auth-calls.ts";
import type { GoogleState } from "./google-state.ts";
import { StepHeading } from "./step-heading.tsx";

interface GoogleFinishProps {
  /** Called if the sign-in did not end with a session or with the request for a second factor. */
  onOtherwise: (state: GoogleState) => void;
}

/** Signs in with the answer that Google gave. */
export function GoogleFinish({ onOtherwise }: GoogleFinishProps) {
  const { t, i18n } = useTranslation("auth");
  const { language } = i18n;
  useEffect(() => {
    finishGoogle(language).then(
      (email) => email !== undefined && onOtherwise({ step: "own-way", email }),
      (error: unknown) => onOtherwise({ step: "refused", code: error instanceof ApiProblem ? error.code : "network" }),
    );
  }, [language, onOtherwise]);
  return (
    <>
      <StepHeading>{t("signIn.title")}</StepHeading>
      <Spinner label={t("signIn.busy")} />
    </>
  );
}

/** Above the form: why Google did not sign in, or whose account comes first. */
export function GoogleNotice({ state }: { state: GoogleState }) {
  const { t } = useTranslation(["steps", "refusals"]);
  if (state.step === "refused") return <Alert tone="danger">{problemText(state.code)}</Alert>;
  if (state.step !== "own-way") return null;
  return (
    <Alert tone="warning">
      <RichText text={t("steps:google.exists", { email: state.email })} elements={{ strong: <strong className={styles.address} /> }} />
    </Alert>
  );
}

/** Offers to link Google to the account whose owner has just signed in in their own way. */
export function LinkGoogle({ email, onDone }: { email: string; onDone: () => void }) {
  const { t } = useTranslation(["steps", "refusals"]);
  const { note, waitSeconds, refuse, clear } = useRefusal();
  const [busy, setBusy] = useState(false);

  async function link(): Promise<void> {
    if (waitSeconds > 0) return;
    clear();
    setBusy(true);
    try {
      await linkGoogle();
      onDone();
    } catch (error) {
      setBusy(false);
      refuse(error);
    }
  }

  return (
    <>
      <header className={styles.header}>
        <StepHeading>{t("steps:google.link.title")}</StepHeading>
        <p className={styles.lead}>
          <RichText text={t("steps:google.link.lead", { email })} elements={{ strong: <strong className={styles.address} /> }} />
        </p>
      </header>
      <div className={styles.form}>
        {note}
        <Button
          variant="primary"
          wide
          busy={busy}
          busyLabel={t("steps:google.link.busy")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void link()}
        >
          {t("steps:google.link.yes")}
        </Button>
        <Button variant="quiet" wide onClick={onDone}>
          {t("steps:google.link.no")}
        </Button>
      </div>
    </>
  );
}
