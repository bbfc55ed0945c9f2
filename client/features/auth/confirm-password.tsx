import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { PasswordField } from "#client/components/password-field.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { ApiProblem } from "#client/lib/api.ts";
import styles from "./auth.module.css";
import { confirmAddress, disownSignUp } from "./auth-calls.ts";
import { StepHeading } from "./step-heading.tsx";

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
  const [password, setPassword] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState<"confirming" | "disowning">();
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function attempt(kind: "confirming" | "disowning", work: () => Promise<void>, done: () => void): Promise<void> {
    clear();
    setBusy(kind);
    try {
      await work();
      done();
    } catch (error) {
      const code = error instanceof ApiProblem ? error.code : "network";
      if (code === "link_invalid") onSpent(code);
      else refuse(error, code === "invalid_credentials" ? t("steps:confirm.password.wrong") : undefined);
    } finally {
      setBusy(undefined);
    }
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    setFault(password === "" ? t("auth:passwordNeeded") : undefined);
    if (password !== "") await attempt("confirming", () => confirmAddress(token, password), onConfirmed);
  }

  return (
    <>
      <header className={styles.header}>
        <StepHeading>{t("steps:confirm.password.title")}</StepHeading>
        <p className={styles.lead}>
          <RichText text={t("steps:confirm.password.lead", { email })} elements={{ strong: <strong className={styles.address} /> }} />
        </p>
      </header>
      <form className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
        {note}
        {/* For password managers, which store the password with the address. */}
        <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField value={password} onChange={setPassword} error={fault} isNew={false} />
        <SubmitButton
          label={t("steps:confirm.password.submit")}
          busy={busy === "confirming"}
          busyLabel={t("steps:confirm.password.busy")}
          waitSeconds={waitSeconds}
        />
      </form>
      <div className={styles.other}>
        <p>{t("steps:confirm.disown.hint")}</p>
        <Button
          busy={busy === "disowning"}
          busyLabel={t("steps:confirm.disown.busy")}
          onClick={() => void (busy ?? attempt("disowning", () => disownSignUp(token), onDisowned))}
        >
          {t("steps:confirm.disown.action")}
        </Button>
      </div>
    </>
  );
}
