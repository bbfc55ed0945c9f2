import type { ComponentProps } from "react";
import { useTranslation } from "react-i18next";
import { AnswerForm } from "./answer-form.tsx";
import { PasswordField } from "./password-field.tsx";

interface PasswordFormProps extends Omit<ComponentProps<typeof AnswerForm>, "field" | "faultOf"> {
  /** The account's. Password managers find the password by it. */
  email: string;
}

/** Asks for the password of an account. */
export function PasswordForm({ email, ...form }: PasswordFormProps) {
  const { t } = useTranslation(["auth", "errors"]);
  return (
    <AnswerForm
      {...form}
      faultOf={(password) => (password === "" ? t("auth:passwordNeeded") : undefined)}
      field={(field) => (
        <>
          <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
          <PasswordField {...field} isNew={false} />
        </>
      )}
    />
  );
}
