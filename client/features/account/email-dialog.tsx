import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Dialog } from "#client/components/dialog.tsx";
import { EmailField } from "#client/components/field.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { useRuleText } from "#client/i18n/rule-text.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import { checkEmail } from "#domain/rules.ts";
import styles from "./account.module.css";

interface EmailDialogProps {
  /** The present address. */
  current: string;
  onClose: () => void;
  /** Called when the link is on its way. */
  onSent: () => void;
}

/** Asks for another address. */
export function EmailDialog({ current, onClose, onSent }: EmailDialogProps) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const ruleText = useRuleText();
  const [email, setEmail] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    const isOwn = email.trim().toLowerCase() === current;
    const found = isOwn ? t("account:email.same") : ruleText(checkEmail(email));
    setFault(found);
    clear();
    if (found) {
      event.currentTarget.querySelector<HTMLInputElement>("[name=email]")?.focus();
      return;
    }
    setBusy(true);
    try {
      const answer = await withStepUp(() => api("POST /api/account/email", { body: { email: email.trim() } }));
      if (answer) onSent();
    } catch (error) {
      // The server refuses one more address than the form does: what is the account's own since another tab changed it.
      if (error instanceof ApiProblem && error.fields[0]) setFault(t("account:email.same"));
      else refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Dialog open onClose={onClose} title={t("account:email.title")}>
      <form className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
        <p>{t("account:email.lead")}</p>
        {note}
        <EmailField
          label={t("account:email.label")}
          name="email"
          autoComplete="email"
          value={email}
          error={fault}
          onChange={(event) => {
            setEmail(event.target.value);
            setFault(undefined);
          }}
        />
        <SubmitButton label={t("account:email.submit")} busy={busy} busyLabel={t("account:email.busy")} waitSeconds={waitSeconds} />
      </form>
    </Dialog>
  );
}
