import type { Tone } from "#client/components/badge.tsx";
import type { InboxEvent } from "#contract/admin/inbox.ts";
import type { MailState } from "#contract/admin/people.ts";
import type { InboxStatus } from "#domain/inbox.ts";
import { languages } from "#domain/languages.ts";

export const statusTones: Record<InboxStatus, Tone> = { open: "warning", waiting: "neutral", done: "good" };
export const deliveryTones: Record<NonNullable<InboxEvent["answer"]>["delivery"]["state"], Tone> = {
  waiting: "neutral",
  sent: "good",
  refused: "danger",
  unknown: "neutral",
};

export const mailTones: Record<MailState, Tone> = { waiting: "neutral", sent: "good", refused: "danger", discarded: "neutral" };

/** The language's own name for itself. */
export function languageName(code: string): string {
  return languages.find((language) => language.code === code)?.name ?? code;
}
