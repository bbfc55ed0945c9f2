import type { FormEvent, ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Button } from "#client/components/button.tsx";
import { Checkbox } from "#client/components/field.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import type { UserConsent } from "#client/offline/consent.ts";
import { paths } from "#client/paths.ts";
import styles from "./consent.module.css";
import { useConsent } from "./consent-store.ts";

type Choice = Omit<UserConsent, "timestamp">;

interface PreferencesProps {
  onBack: () => void;
  onDecline: () => void;
  onSave: (choice: Choice) => void;
}

/** The detailed view: terms and privacy are required to save, cookies are not (spec §5). */
export function Preferences({ onBack, onDecline, onSave }: PreferencesProps) {
  const { t } = useTranslation("consent");
  const before = useConsent((state) => state.consent);
  const [choice, setChoice] = useState<Choice>({
    tos: before?.tos ?? false,
    privacy: before?.privacy ?? false,
    cookies: before?.cookies ?? false,
  });
  const complete = choice.tos && choice.privacy;

  function save(event: FormEvent): void {
    event.preventDefault();
    if (complete) onSave(choice);
  }

  function box(name: keyof Choice, label: ReactNode, hint: string, required: boolean) {
    return (
      <Checkbox
        label={label}
        hint={hint}
        required={required}
        checked={choice[name]}
        onChange={(event) => setChoice({ ...choice, [name]: event.target.checked })}
      />
    );
  }

  const linked = (key: "boxes.tos" | "boxes.privacy") => (
    <RichText text={t(key)} elements={{ terms: <Link href={paths.terms} />, privacy: <Link href={paths.privacy} /> }} />
  );
  return (
    <form className={styles.preferences} onSubmit={save} noValidate>
      <h2 id="consent-title" className={styles.title}>
        {t("preferences")}
      </h2>
      <div className={styles.boxes}>
        {box("tos", linked("boxes.tos"), t("hints.tos"), true)}
        {box("privacy", linked("boxes.privacy"), t("hints.privacy"), true)}
        {box("cookies", t("boxes.cookies"), t("hints.cookies"), false)}
      </div>
      <div className={styles.actions}>
        <p id="consent-required" className={styles.note}>
          {t("required")}
        </p>
        <Button size="small" variant="quiet" onClick={onBack}>
          {t("back")}
        </Button>
        <Button size="small" onClick={onDecline}>
          {t("declineAll")}
        </Button>
        <Button size="small" type="submit" disabled={!complete} aria-describedby="consent-required">
          {t("save")}
        </Button>
      </div>
    </form>
  );
}
