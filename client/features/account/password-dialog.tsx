import type { FormEvent } from "react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Dialog } from "#client/components/dialog.tsx";
import { PasswordField } from "#client/components/password-field.tsx";
import { SubmitButton } from "#client/components/submit-button.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { useRuleText } from "#client/i18n/rule-text.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { showToast } from "#client/lib/interface-store.ts";
import { checkPassword } from "#domain/rules.ts";
import styles from "./account.module.css";
import { tellSecurityNews } from "./security-news.ts";

interface Faults {
  current: string | undefined;
  chosen: string | undefined;
}

const none: Faults = { current: undefined, chosen: undefined };

/** The form's state, and the call. */
function usePasswordChange(email: string, onChanged: () => void) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const ruleText = useRuleText();
  const form = useRef<HTMLFormElement>(null);
  const [current, setCurrent] = useState("");
  const [chosen, setChosen] = useState("");
  const [faults, setFaults] = useState(none);
  const [busy, setBusy] = useState(false);
  const { note, waitSeconds, refuse, clear } = useRefusal();

  /** Shows the errors at their fields and moves the focus to the first. */
  function blame(found: Faults): void {
    setFaults(found);
    const field = found.current ? "[name=current]" : "[name=password]";
    if (found.current || found.chosen) form.current?.querySelector<HTMLInputElement>(field)?.focus();
  }

  function refused(error: unknown): void {
    const problem = error instanceof ApiProblem ? error : undefined;
    if (problem?.code === "wrong_password") blame({ ...none, current: t("refusals:wrong_password") });
    else if (problem?.fields[0]) blame({ ...none, chosen: ruleText(problem.fields[0].message) });
    else refuse(error);
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    clear();
    const found = { current: current === "" ? t("auth:passwordNeeded") : undefined, chosen: ruleText(checkPassword(chosen, email)) };
    blame(found);
    if (found.current || found.chosen) return;
    setBusy(true);
    try {
      await api("POST /api/account/password", { body: { currentPassword: current, password: chosen } });
      onChanged();
      tellSecurityNews();
      showToast({ title: t("account:password.changed"), text: t("account:password.changedText") });
    } catch (error) {
      refused(error);
    } finally {
      setBusy(false);
    }
  }

  const edit = (change: (value: string) => void, fixed: Partial<Faults>) => (value: string) => {
    change(value);
    setFaults({ ...faults, ...fixed });
  };
  const editCurrent = edit(setCurrent, { current: undefined });
  const editChosen = edit(setChosen, { chosen: undefined });
  return { form, current, chosen, editCurrent, editChosen, faults, busy, note, waitSeconds, submit };
}

/** Changes the password. Whoever has forgotten the current one signs out and asks for a link. */
export function PasswordDialog({ email, onClose }: { email: string; onClose: () => void }) {
  const { t } = useTranslation(["account", "auth"]);
  const { form, current, chosen, editCurrent, editChosen, faults, busy, note, waitSeconds, submit } = usePasswordChange(email, onClose);
  return (
    <Dialog open onClose={onClose} title={t("account:password.submit")}>
      <form ref={form} className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
        <p>{t("account:password.lead")}</p>
        {note}
        {/* Password managers find the password by the address. */}
        <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField
          label={t("account:password.current")}
          name="current"
          value={current}
          onChange={editCurrent}
          error={faults.current}
          isNew={false}
        />
        <PasswordField label={t("auth:newPassword")} value={chosen} onChange={editChosen} error={faults.chosen} isNew />
        <SubmitButton label={t("account:password.submit")} busy={busy} busyLabel={t("account:password.busy")} waitSeconds={waitSeconds} />
      </form>
    </Dialog>
  );
}
