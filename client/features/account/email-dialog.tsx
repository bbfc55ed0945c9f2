import { useTranslation } from "react-i18next";
import { AnswerForm } from "#client/components/answer-form.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { EmailField } from "#client/components/field.tsx";
import { useRuleText } from "#client/i18n/rule-text.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import { checkEmail } from "#domain/rules.ts";

interface EmailDialogProps {
  /** The present address. */
  current: string;
  onClose: () => void;
  /** Called when the link is on its way. */
  onSent: () => void;
}

/** Asks for another address. */
export function EmailDialog({ current, onClose, onSent }: EmailDialogProps) {
  const { t } = useTranslation("account");
  const ruleText = useRuleText();

  async function send(email: string): Promise<void> {
    if (await withStepUp(() => api("POST /api/account/email", { body: { email: email.trim() } }))) onSent();
  }

  return (
    <Dialog open onClose={onClose} title={t("email.title")}>
      <AnswerForm
        lead={<p>{t("email.lead")}</p>}
        faultOf={(email) => (email.trim().toLowerCase() === current ? t("email.same") : ruleText(checkEmail(email)))}
        send={send}
        // The form has accepted the address. If the server refuses it, it is the account's own by now, because another tab changed it.
        refusedAt={(error) => (error instanceof ApiProblem && error.fields[0] ? t("email.same") : undefined)}
        submit={{ label: t("email.submit"), busyLabel: t("email.busy") }}
        field={({ onChange, ...state }) => (
          <EmailField
            {...state}
            label={t("email.label")}
            name="email"
            autoComplete="email"
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      />
    </Dialog>
  );
}
