import type { FormEvent } from "react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { useRuleText } from "#client/i18n/rule-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { checkEmail } from "#domain/rules.ts";
import styles from "./auth.module.css";
import { askForRecovery } from "./auth-calls.ts";
import { SignInEmail } from "./sign-in-email.tsx";
import { StepHeading } from "./step-heading.tsx";

interface RecoverFormProps {
  email: string;
  onEmail: (email: string) => void;
  /** The address of the sign-in form, including the visitor's query parameters. */
  signInHref: string;
  /** Called when the link is on its way, or nothing is because the address has no account. */
  onSent: () => void;
}

/** Asks for a mail with which somebody who forgot their password chooses a new one. */
export function RecoverForm({ email, onEmail, signInHref, onSent }: RecoverFormProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const ruleText = useRuleText();
  const form = useRef<HTMLFormElement>(null);
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  function change(value: string): void {
    onEmail(value);
    setFault(undefined);
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    const found = ruleText(checkEmail(email));
    setFault(found);
    clear();
    if (found) {
      form.current?.querySelector<HTMLInputElement>("[name=email]")?.focus();
      return;
    }
    setBusy(true);
    try {
      await askForRecovery(email);
      onSent();
    } catch (error) {
      if (error instanceof ApiProblem) setFault(ruleText(error.fields[0]?.message));
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <header className={styles.header}>
        <StepHeading>{t("auth:recover.title")}</StepHeading>
        <p className={styles.lead}>{t("steps:recover.lead")}</p>
      </header>
      <form ref={form} className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
        {note}
        <SignInEmail value={email} onChange={change} error={fault} />
        <SubmitButton label={t("steps:recover.submit")} busy={busy} busyLabel={t("steps:recover.busy")} waitSeconds={waitSeconds} />
      </form>
      <p className={styles.other}>
        <Link href={signInHref}>{t("steps:recover.back")}</Link>
      </p>
    </>
  );
}
