import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { limits } from "#domain/rules.ts";
import { IconButton } from "./button.tsx";
import { TextField } from "./field.tsx";
import styles from "./password-field.module.css";
import { VisuallyHidden } from "./visually-hidden.tsx";

interface PasswordFieldProps {
  /** "Password" if it is left out. */
  label?: string;
  /** `password` if it is left out; a form with two of them tells them apart by it. */
  name?: string;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
  /** Shows the password rules, and lets password managers suggest a new password. */
  isNew: boolean;
}

/** The password rules; each gets a filled tile as soon as it is met. */
function Strength({ value }: { value: string }) {
  const { t } = useTranslation("auth");
  const needs = [
    { key: "length", met: [...value].length >= limits.passwordMin, text: t("strength.length", { count: limits.passwordMin }) },
    { key: "letter", met: /\p{L}/u.test(value), text: t("strength.letter") },
    { key: "digit", met: /\p{Nd}/u.test(value), text: t("strength.digit") },
  ];
  return (
    <div className={styles.strength}>
      <p>{t("strength.label")}</p>
      <ul className={styles.needs}>
        {needs.map((need) => (
          <li key={need.key} data-met={need.met || undefined}>
            {need.text}
            <VisuallyHidden>, {t(need.met ? "strength.met" : "strength.open")}</VisuallyHidden>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function PasswordField({ label, name = "password", value, onChange, error, isNew }: PasswordFieldProps) {
  const { t } = useTranslation("auth");
  const [shown, setShown] = useState(false);
  const Icon = shown ? EyeOff : Eye;
  return (
    <div className={styles.password}>
      <TextField
        label={label ?? t("password")}
        name={name}
        type={shown ? "text" : "password"}
        autoComplete={isNew ? "new-password" : "current-password"}
        autoCapitalize="none"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        error={error}
        trailing={
          <IconButton label={t(shown ? "hidePassword" : "showPassword")} aria-pressed={shown} onClick={() => setShown(!shown)}>
            <Icon size={20} aria-hidden="true" />
          </IconButton>
        }
      />
      {isNew && <Strength value={value} />}
    </div>
  );
}
