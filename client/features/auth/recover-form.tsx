import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { AnswerForm } from "#client/components/answer-form.tsx";
import { useRuleText } from "#client/i18n/rule-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { checkEmail } from "#domain/rules.ts";
import styles from "./auth.module.css";
import { askForRecovery } from "./auth-calls.ts";
import { SignInEmail } from "./sign-in-email.tsx";
import { Step } from "./step.tsx";

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
  return (
    <Step title={t("auth:recover.title")} lead={t("steps:recover.lead")}>
      <AnswerForm
        initial={email}
        faultOf={(address) => ruleText(checkEmail(address))}
        send={(address) => askForRecovery(address).then(onSent)}
        refusedAt={(error) => (error instanceof ApiProblem ? ruleText(error.fields[0]?.message) : undefined)}
        submit={{ label: t("steps:recover.submit"), busyLabel: t("steps:recover.busy") }}
        field={({ onChange, ...state }) => (
          <SignInEmail
            {...state}
            onChange={(address) => {
              onEmail(address);
              onChange(address);
            }}
          />
        )}
      />
      <p className={styles.other}>
        <Link href={signInHref}>{t("steps:recover.back")}</Link>
      </p>
    </Step>
  );
}
