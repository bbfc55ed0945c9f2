import type { ComponentProps } from "react";
import { useTranslation } from "react-i18next";
import { AnswerForm } from "./answer-form.tsx";
import { TextField } from "./field.tsx";

interface CodeFormProps extends Omit<ComponentProps<typeof AnswerForm>, "field" | "faultOf"> {
  /** `any`: of the app, or a recovery code. */
  kind: "totp" | "recovery_code" | "any";
}

/** Asks for a code of the second factor. */
export function CodeForm({ kind, ...form }: CodeFormProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  return (
    <AnswerForm
      {...form}
      faultOf={(code) => (code.trim() === "" ? t("steps:factor.needed") : undefined)}
      field={({ onChange, ...state }) => (
        <TextField
          {...state}
          label={t(kind === "recovery_code" ? "steps:factor.recoveryCode" : "steps:factor.code")}
          name="code"
          onChange={(event) => onChange(event.target.value)}
          inputMode={kind === "totp" ? "numeric" : "text"}
          autoComplete={kind === "recovery_code" ? "off" : "one-time-code"}
          autoCapitalize="none"
          spellCheck={false}
        />
      )}
    />
  );
}
