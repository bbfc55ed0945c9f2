import { useTranslation } from "react-i18next";
import { useSpeechWish } from "#client/lib/speech-wish.ts";
import type { Voice } from "#domain/speech.ts";
import { readersOf, voiceFor, voicesOf } from "#domain/speech.ts";

/** The model's voices that can read a text in this language; all voices while the language is unknown. */
export function voicesIn(modelId: string, language: string | undefined): readonly Voice[] {
  return language === undefined ? voicesOf({ id: modelId }) : readersOf({ id: modelId }, language);
}

/** No voice of the model speaks the language, but some read its letters. */
export function hasAccent(modelId: string, language: string | undefined): language is string {
  return language !== undefined && !voiceFor({ id: modelId }, language) && readersOf({ id: modelId }, language).length > 0;
}

/** The key of a stored choice. Texts that the model reads only with an accent have a key of their own, and so a choice of their own. */
export function wishKey(modelId: string, language: string | undefined): string {
  return hasAccent(modelId, language) ? `${modelId} ${language}` : modelId;
}

/** The voice that a text is read in: the one that was chosen if it can read the text, or the first one that can. */
export function useVoice(modelId: string, language?: string): string | undefined {
  const { i18n } = useTranslation();
  const voices = voicesIn(modelId, language);
  const chosen = useSpeechWish((wish) => wish.voices[wishKey(modelId, language)]);
  return voices.find(({ id }) => id === chosen)?.id ?? (voiceFor({ id: modelId }, language ?? i18n.language) ?? voices[0])?.id;
}
