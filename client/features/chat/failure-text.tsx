import { useTranslation } from "react-i18next";
import type chat from "#client/i18n/locales/en/chat.json";
import type outcomes from "#client/i18n/locales/en/outcomes.json";
import type { Receipt } from "#contract/generations/generations.ts";
import { useOutcome } from "./use-outcome.ts";

type FailureKey = Exclude<keyof typeof chat.failure, "title">;
type RareFailureKey = keyof typeof outcomes.failure;

const known: readonly FailureKey[] = [
  "provider_error",
  "provider_rate_limited",
  "provider_timeout",
  "provider_garbage",
  "provider_empty",
  "content_filtered",
  "interrupted",
];
/** Failures whose texts are loaded only when one of them has to be shown. */
const rare: readonly RareFailureKey[] = [
  "picture_not_kept",
  "clip_not_kept",
  "queue_too_long",
  "reference_unreadable",
  "sound_not_kept",
  "recording_unreadable",
  "request_refused",
  "files_unreadable",
  "model_gone",
];

/**
 * Says why an answer failed, or why some of its pictures did. A code that this client does not know gets the general text, and so does a
 * rare one until its text is loaded.
 */
export function FailureText({ receipt: { failureCode: code, filterReason } }: { receipt: Receipt }) {
  const { t } = useTranslation("chat");
  const saysWhy = filterReason !== undefined && filterReason !== "unspecified";
  const rareCode = rare.find((key) => key === code);
  const outcome = useOutcome(saysWhy || rareCode !== undefined);
  if (saysWhy && outcome) return <outcome.Filtered reason={filterReason} />;
  if (rareCode && outcome) return <outcome.RareFailure code={rareCode} />;
  return t(`failure.${known.find((key) => key === code) ?? "other"}`);
}
