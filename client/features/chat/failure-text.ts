import { useTranslation } from "react-i18next";
import type chat from "#client/i18n/locales/en/chat.json";

type FailureKey = Exclude<keyof typeof chat.failure, "title">;

const known: readonly FailureKey[] = [
  "provider_error",
  "provider_rate_limited",
  "provider_timeout",
  "provider_garbage",
  "provider_empty",
  "content_filtered",
  "interrupted",
  "picture_not_kept",
  "clip_not_kept",
  "queue_too_long",
  "reference_unreadable",
  "sound_not_kept",
  "recording_unreadable",
];

/** Says why an answer failed, by the code on its receipt. A code that this client does not know gets the general text. */
export function useFailureText(): (code: string | null) => string {
  const { t } = useTranslation("chat");
  return (code) => t(`failure.${known.find((key) => key === code) ?? "other"}`);
}
