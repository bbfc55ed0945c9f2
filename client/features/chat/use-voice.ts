import { useTranslation } from "react-i18next";
import { useSpeechWish } from "#client/lib/speech-wish.ts";
import type { Voice } from "#domain/speech.ts";
import { voiceFor, voicesOf } from "#domain/speech.ts";

/** The model's voices that read a text of this language; all of them if nobody knows its language yet, or none speaks it. */
export function voicesIn(modelId: string, language: string | undefined): readonly Voice[] {
  const all = voicesOf({ id: modelId });
  const fitting = all.filter((voice) => language === undefined || voice.language === null || voice.language === language);
  return fitting.length > 0 ? fitting : all;
}

/** The voice that a text is read in: the one that was chosen if it speaks the text's language, or the first one that speaks it. */
export function useVoice(modelId: string, language?: string): string | undefined {
  const { i18n } = useTranslation();
  const voices = voicesIn(modelId, language);
  const chosen = useSpeechWish((wish) => wish.voices[modelId]);
  return voices.find(({ id }) => id === chosen)?.id ?? (voiceFor({ id: modelId }, language ?? i18n.language) ?? voices[0])?.id;
}
