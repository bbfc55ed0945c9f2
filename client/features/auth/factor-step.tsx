import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { CodeField } from "#client/components/code-field.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import type { FactorNeeded } from "#contract/auth.ts";
import styles from "./auth.module.css";
import { answerFactor } from "./auth-calls.ts";
import { LostFactor } from "./lost-factor.tsx";
import { StepHeading } from "./step-heading.tsx";

type Method = FactorNeeded["methods"][number];

interface CodeFormProps {
  token: string;
  method: Method;
  onExpired: () => void;
}

function CodeForm({ token, method, onExpired }: CodeFormProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const [code, setCode] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    setFault(code.trim() === "" ? t("steps:factor.needed") : undefined);
    if (code.trim() === "") return;
    clear();
    setBusy(true);
    try {
      await answerFactor(token, code);
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "sign_in_expired") onExpired();
      else refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
      {note}
      <CodeField kind={method} value={code} onChange={setCode} error={fault} />
      <SubmitButton label={t("auth:signIn.submit")} busy={busy} busyLabel={t("steps:factor.busy")} waitSeconds={waitSeconds} />
    </form>
  );
}

/** Asks for the second factor after the first one was right. */
export function FactorStep({ needed, onBack }: { needed: FactorNeeded; onBack: () => void }) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const [method, setMethod] = useState<Method>("totp");
  const [expired, setExpired] = useState(false);
  const [lost, setLost] = useState(false);
  const back = (
    <Button variant={expired ? "primary" : "quiet"} wide onClick={onBack}>
      {t("steps:factor.back")}
    </Button>
  );
  if (expired) {
    return (
      <>
        <StepHeading>{t("steps:factor.title")}</StepHeading>
        <Alert tone="danger">{problemText("sign_in_expired")}</Alert>
        {back}
      </>
    );
  }
  if (lost) return <LostFactor token={needed.token} onBack={() => setLost(false)} onExpired={() => setExpired(true)} />;
  const isApp = method === "totp";
  return (
    <>
      <header className={styles.header}>
        <StepHeading>{t("steps:factor.title")}</StepHeading>
        <p className={styles.lead}>{t(isApp ? "steps:factor.lead" : "steps:factor.leadRecovery")}</p>
      </header>
      <CodeForm key={method} token={needed.token} method={method} onExpired={() => setExpired(true)} />
      <div className={styles.actions}>
        {needed.methods.includes("recovery_code") && (
          <Button wide onClick={() => setMethod(isApp ? "recovery_code" : "totp")}>
            {t(isApp ? "steps:factor.useRecovery" : "steps:factor.useApp")}
          </Button>
        )}
        <Button variant="quiet" wide onClick={() => setLost(true)}>
          {t("steps:factor.lost")}
        </Button>
        {back}
      </div>
    </>
  );
}
