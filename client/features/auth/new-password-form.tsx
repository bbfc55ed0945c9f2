import type { FormEvent } from "react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { PasswordField } from "#client/components/password-field.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { useRuleText } from "#client/i18n/rule-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { checkPassword } from "#domain/rules.ts";
import styles from "./auth.module.css";
import { resetPassword } from "./auth-calls.ts";
import { StepHeading } from "./step-heading.tsx";

interface NewPasswordFormProps {
  token: string;
  /** The address that the link belongs to. */
  email: string;
  /** Called with whether the new password also signed in here. */
  onChanged: (signedIn: boolean) => void;
  /** The link has expired or was used meanwhile. */
  onSpent: (code: string) => void;
}

export function NewPasswordForm({ token, email, onChanged, onSpent }: NewPasswordFormProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const ruleText = useRuleText();
  const form = useRef<HTMLFormElement>(null);
  const [password, setPassword] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  function change(value: string): void {
    setPassword(value);
    setFault(undefined);
  }

  /** Shows the error at the field and moves the focus there. */
  function blame(message: string | undefined): void {
    setFault(message);
    if (message) form.current?.querySelector<HTMLInputElement>("[name=password]")?.focus();
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    clear();
    const found = ruleText(checkPassword(password, email));
    blame(found);
    if (found) return;
    setBusy(true);
    try {
      onChanged(await resetPassword(token, email, password));
    } catch (error) {
      const problem = error instanceof ApiProblem ? error : undefined;
      if (problem?.code === "link_invalid") onSpent(problem.code);
      else if (problem?.fields[0]) blame(ruleText(problem.fields[0].message));
      else refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <header className={styles.header}>
        <StepHeading>{t("auth:recover.title")}</StepHeading>
        <p className={styles.lead}>
          <RichText text={t("steps:reset.lead", { email })} elements={{ strong: <strong className={styles.address} /> }} />
        </p>
      </header>
      <form ref={form} className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
        {note}
        {/* For password managers, which store the password with the address. */}
        <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField label={t("auth:newPassword")} value={password} onChange={change} error={fault} isNew />
        <SubmitButton label={t("steps:reset.submit")} busy={busy} busyLabel={t("steps:reset.busy")} waitSeconds={waitSeconds} />
      </form>
    </>
  );
}
