import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { TextArea } from "#client/components/field.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import type { AdminModel } from "#contract/admin/models.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, languages } from "#domain/languages.ts";
import { ActDialog } from "./act-dialog.tsx";
import styles from "./switch-dialog.module.css";

type Texts = AdminModel["texts"];

const longestText = 200;
const written = (texts: Texts): Texts => Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim() !== ""));

/** What people read in place of the model: in English, which all languages fall back to, and where wanted in others. */
function TextFields({ texts, onChange }: { texts: Texts; onChange: (language: LanguageCode, text: string) => void }) {
  const { t } = useTranslation("admin");
  const others = languages.filter(({ code }) => code !== fallbackLanguage);
  const field = (code: LanguageCode) => ({
    lang: code,
    rows: 2,
    maxLength: longestText,
    value: texts[code] ?? "",
    onChange: (event: { target: { value: string } }) => onChange(code, event.target.value),
  });
  return (
    <>
      <TextArea label={t("models.textLabel")} hint={t("models.textHint")} {...field(fallbackLanguage)} />
      <details className={styles.others}>
        <summary>{t("models.otherLanguages")}</summary>
        {others.map(({ code, name }) => (
          <TextArea key={code} label={name} {...field(code)} />
        ))}
      </details>
    </>
  );
}

interface SwitchDialogProps {
  model: AdminModel;
  off: boolean;
  onClose: () => void;
  onDone: () => void;
}

/** Switches a model. If somebody else was faster, the admin sees the switch as it is now and keeps what they wrote. */
export function SwitchDialog({ model, off, onClose, onDone }: SwitchDialogProps) {
  const { t } = useTranslation("admin");
  const [seen, setSeen] = useState(model);
  const [texts, setTexts] = useState<Texts>(model.texts);
  const isChange = off && model.offBy === "admin";
  const title = t(isChange ? "models.changeText" : off ? "models.switchOff" : "models.switchOn");

  async function act(reason: string): Promise<void> {
    const body = { off, texts: off ? written(texts) : {}, version: seen.version, reason };
    try {
      await api("PUT /api/admin/models/:modelId/switch", { params: { modelId: model.id }, body });
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "conflict") {
        const { rows } = await api("GET /api/admin/models");
        setSeen(rows.find(({ id }) => id === model.id) ?? seen);
      }
      throw error;
    }
  }

  return (
    <ActDialog title={`${title}: ${model.name}`} action={title} danger={off && !isChange} onClose={onClose} onDone={onDone} act={act}>
      <p>{t(off ? "models.offText" : "models.onText")}</p>
      {seen !== model && (
        <Alert tone="warning">
          {t("models.meanwhile", { state: t(`models.states.${seen.state}`) })} {seen.offBy === "admin" && seen.texts.en}
        </Alert>
      )}
      {off && <TextFields texts={texts} onChange={(language, text) => setTexts({ ...texts, [language]: text })} />}
    </ActDialog>
  );
}
