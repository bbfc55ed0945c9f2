import { useTranslation } from "react-i18next";
import { TextField } from "./field.tsx";

interface CodeFieldProps {
  /** `any`: of the app, or a recovery code. */
  kind: "totp" | "recovery_code" | "any";
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
}

/** A field for a code of the second factor. */
export function CodeField({ kind, value, onChange, error }: CodeFieldProps) {
  const { t } = useTranslation(["auth", "steps"]);
  return (
    <TextField
      label={t(kind === "recovery_code" ? "steps:factor.recoveryCode" : "steps:factor.code")}
      name="code"
      value={value}
      onChange={(event) => onChange(event.target.value)}
      error={error}
      inputMode={kind === "totp" ? "numeric" : "text"}
      autoComplete={kind === "recovery_code" ? "off" : "one-time-code"}
      autoCapitalize="none"
      spellCheck={false}
    />
  );
}
