import { Globe } from "lucide-react";
import { useTranslation } from "react-i18next";
import { classNames } from "#client/components/class-names.ts";
import { chooseLanguage } from "#client/i18n/set-up.ts";
import { api } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { languages, matchLanguage } from "#domain/languages.ts";
import styles from "./language-switch.module.css";

/** The 11 languages by their own names. A native select, because it works with every assistive technology and on phones. */
export function LanguageSwitch({ compact = false }: { compact?: boolean }) {
  const { t, i18n } = useTranslation("common");

  function onChange(value: string) {
    const language: LanguageCode | undefined = matchLanguage(value);
    if (!language) return;
    void chooseLanguage(language);
    // Mails come in the chosen language too. If this call fails, they keep the language they had.
    if (sessionStore.getState().user) api("PATCH /api/account", { body: { language } }).catch(() => undefined);
  }

  return (
    <label className={classNames(styles.switch, compact && styles.compact)}>
      <Globe size={18} aria-hidden="true" />
      <select
        aria-label={t("language.label")}
        value={matchLanguage(i18n.language) ?? "en"}
        onChange={(event) => onChange(event.target.value)}
      >
        {languages.map(({ code, name }) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
