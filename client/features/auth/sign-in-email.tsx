import { useTranslation } from "react-i18next";
import { EmailField } from "#client/components/field.tsx";

interface SignInEmailProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** The address one signs in with; `username` is what password managers file it under. */
export function SignInEmail({ value, onChange, error }: SignInEmailProps) {
  const { t } = useTranslation("auth");
  return (
    <EmailField
      label={t("email")}
      name="email"
      autoComplete="username"
      value={value}
      onChange={(event) => onChange(event.target.value)}
      error={error}
    />
  );
}
