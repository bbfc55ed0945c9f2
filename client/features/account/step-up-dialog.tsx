import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Dialog } from "#client/components/dialog.tsx";
import { PasswordField } from "#client/components/password-field.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { api } from "#client/lib/api.ts";
import { useStepUpQuestion } from "#client/lib/step-up.ts";
import { minuteMs } from "#domain/clock.ts";
import { stepUpMs } from "#domain/periods.ts";
import styles from "./account.module.css";

function StepUpForm({ email, onProved }: { email: string; onProved: () => void }) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const [password, setPassword] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    setFault(password === "" ? t("auth:passwordNeeded") : undefined);
    if (password === "") return;
    clear();
    setBusy(true);
    try {
      await api("POST /api/account/step-up", { body: { password } });
      onProved();
    } catch (error) {
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
      <p>{t("account:stepUp.lead", { minutes: stepUpMs / minuteMs })}</p>
      {note}
      {/* Password managers find the password by the address. */}
      <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
      <PasswordField value={password} onChange={setPassword} error={fault} isNew={false} />
      <SubmitButton label={t("account:stepUp.submit")} busy={busy} busyLabel={t("account:stepUp.busy")} waitSeconds={waitSeconds} />
    </form>
  );
}

/** Asks for a factor when a call of this page needs one (step-up.ts). */
export function StepUpDialog({ email }: { email: string }) {
  const { t } = useTranslation("account");
  const question = useStepUpQuestion();
  return (
    <Dialog open={question !== undefined} onClose={() => question?.answer(false)} title={t("stepUp.title")}>
      <StepUpForm email={email} onProved={() => question?.answer(true)} />
    </Dialog>
  );
}
