import { useTranslation } from "react-i18next";
import { useSpeechWish } from "#client/lib/speech-wish.ts";
import { voiceFor } from "#domain/speech.ts";

/** The voice that a text is read in: the one that was chosen, or the first of the reader's language. */
export function useVoice(modelId: string): string | undefined {
  const { i18n } = useTranslation();
  const chosen = useSpeechWish((wish) => wish.voices[modelId]);
  return chosen ?? voiceFor({ id: modelId }, i18n.language)?.id;
}
