import { useTranslation } from "react-i18next";
import { EmailField } from "#client/components/field.tsx";

interface SignInEmailProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/**
 * The email field for signing in. Password managers store the password under `username`; passkeys are among its suggestions while they are
 * offered (passkey-way.tsx).
 */
export function SignInEmail({ value, onChange, error }: SignInEmailProps) {
  const { t } = useTranslation("auth");
  return (
    <EmailField
      label={t("email")}
      name="email"
      autoComplete="username webauthn"
      value={value}
      onChange={(event) => onChange(event.target.value)}
      error={error}
    />
  );
}
