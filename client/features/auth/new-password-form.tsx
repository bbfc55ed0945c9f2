import { useTranslation } from "react-i18next";
import { AnswerForm } from "#client/components/answer-form.tsx";
import { PasswordField } from "#client/components/password-field.tsx";
import { useRuleText } from "#client/i18n/rule-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { checkPassword } from "#domain/rules.ts";
import { resetPassword } from "./auth-calls.ts";
import { Step } from "./step.tsx";
import { unlessCode } from "./unless-code.ts";

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
  return (
    <Step title={t("auth:recover.title")} lead={t("steps:reset.lead", { email })}>
      <AnswerForm
        faultOf={(password) => ruleText(checkPassword(password, email))}
        send={(password) =>
          resetPassword(token, email, password)
            .then(onChanged)
            .catch(unlessCode("link_invalid", ({ code }) => onSpent(code)))
        }
        refusedAt={(error) => (error instanceof ApiProblem ? ruleText(error.fields[0]?.message) : undefined)}
        submit={{ label: t("steps:reset.submit"), busyLabel: t("steps:reset.busy") }}
        field={(field) => (
          <>
            {/* For password managers, which store the password with the address. */}
            <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
            <PasswordField {...field} label={t("auth:newPassword")} isNew />
          </>
        )}
      />
    </Step>
  );
}
