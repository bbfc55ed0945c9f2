/** What comes after Google has sent somebody back to the sign-in page. */
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import styles from "./auth.module.css";
import { finishGoogle, linkGoogle } from "./auth-calls.ts";
import type { GoogleState } from "./google-state.ts";
import { ActStep, Step } from "./step.tsx";

interface GoogleFinishProps {
  /** Called if the sign-in did not end with a session or with the request for a second factor. */
  onOtherwise: (state: GoogleState) => void;
}

/** Signs in with the answer that Google gave. */
export function GoogleFinish({ onOtherwise }: GoogleFinishProps) {
  // With the texts of what may come next, so that the form and its notice appear together.
  const { t, i18n } = useTranslation(["auth", "steps", "refusals"]);
  const { language } = i18n;
  useEffect(() => {
    finishGoogle(language).then(
      (email) => email !== undefined && onOtherwise({ step: "own-way", email }),
      (error: unknown) => onOtherwise({ step: "refused", code: error instanceof ApiProblem ? error.code : "network" }),
    );
  }, [language, onOtherwise]);
  return (
    <Step title={t("signIn.title")}>
      <Spinner label={t("signIn.busy")} />
    </Step>
  );
}

/** On the form: why Google did not sign in, or whose account comes first. */
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
  return (
    <ActStep
      title={t("steps:google.link.title")}
      lead={t("steps:google.link.lead", { email })}
      submit={{ label: t("steps:google.link.yes"), busyLabel: t("steps:google.link.busy") }}
      act={() => linkGoogle().then(onDone)}
    >
      <Button variant="quiet" wide onClick={onDone}>
        {t("steps:google.link.no")}
      </Button>
    </ActStep>
  );
}
