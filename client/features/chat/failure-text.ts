import { useTranslation } from "react-i18next";
import type chat from "#client/i18n/locales/en/chat.json";

type FailureKey = Exclude<keyof typeof chat.failure, "title">;

const known: readonly FailureKey[] = [
  "model_unavailable",
  "model_timeout",
  "model_overloaded",
  "model_error",
  "model_refused",
  "interrupted",
];

/** Why an answer failed, by the code on its receipt; a code this client does not know reads as a plain failure. */
export function useFailureText(): (code: string | null) => string {
  const { t } = useTranslation("chat");
  return (code) => t(`failure.${known.find((key) => key === code) ?? "other"}`);
}
