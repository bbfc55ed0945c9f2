import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Select, TextArea, TextField } from "#client/components/field.tsx";
import type { Environment } from "#contract/catalogue.ts";
import { hourMs } from "#domain/clock.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage, languages } from "#domain/languages.ts";
import { endsInTime, noticeBounds, noticeTones } from "#domain/settings.ts";

type Notice = NonNullable<Environment["notice"]>;

/** The value that a field for a day and a time takes, in UTC. */
const fieldTime = (timestamp: string) => timestamp.slice(0, "2026-01-01T00:00".length);
const usualHours = 4;

export function usualNotice(nowMs: number): Notice {
  return { tone: "warning", texts: { [fallbackLanguage]: "" }, until: new Date(nowMs + usualHours * hourMs).toISOString() };
}

/** The notice's texts, how it looks, and until when it is shown. A translation that is emptied is removed. */
export function NoticeFields({ notice, onChange }: { notice: Notice; onChange: (notice: Notice) => void }) {
  const { t } = useTranslation("settings");
  const { tone, texts, until } = notice;
  const [added, setAdded] = useState<readonly string[]>(() => Object.keys(texts));
  const isEnded = !endsInTime({ until }, new Date());
  const addable = languages.filter(({ code }) => !added.includes(code));
  function write(code: LanguageCode, text: string): void {
    const { [code]: _before, ...others } = texts;
    onChange({ ...notice, texts: text.trim() === "" && code !== fallbackLanguage ? others : { ...others, [code]: text } });
  }
  return (
    <>
      <Select
        label={t("notice.tone")}
        value={tone}
        options={noticeTones.map((each) => ({ value: each, label: t(`notice.tones.${each}`) }))}
        onChange={(event) => onChange({ ...notice, tone: event.target.value as Notice["tone"] })}
      />
      <TextField
        label={t("notice.until")}
        error={isEnded ? t("notice.untilWrong", { days: noticeBounds.days }) : undefined}
        type="datetime-local"
        required
        value={fieldTime(until)}
        onChange={(event) => event.target.value !== "" && onChange({ ...notice, until: `${event.target.value}:00Z` })}
      />
      {languages
        .filter(({ code }) => added.includes(code))
        .map(({ code, name }) => (
          <TextArea
            key={code}
            label={t("notice.text", { language: name })}
            hint={code === fallbackLanguage ? t("notice.fallback") : undefined}
            lang={code}
            rows={3}
            required={code === fallbackLanguage}
            maxLength={noticeBounds.textCharacters}
            value={texts[code] ?? ""}
            onChange={(event) => write(code, event.target.value)}
          />
        ))}
      {addable.length > 0 && (
        <Select
          label={t("notice.add")}
          value=""
          options={[{ value: "", label: "–" }, ...addable.map(({ code, name }) => ({ value: code, label: name, lang: code }))]}
          onChange={(event) => event.target.value !== "" && setAdded([...added, event.target.value])}
        />
      )}
    </>
  );
}
