import { useTranslation } from "react-i18next";
import { TextField } from "#client/components/field.tsx";

interface EmailFieldProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** `username` is what password managers file a sign-in under. */
export function EmailField({ value, onChange, error }: EmailFieldProps) {
  const { t } = useTranslation("auth");
  return (
    <TextField
      label={t("email")}
      name="email"
      type="email"
      inputMode="email"
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      error={error}
    />
  );
}
