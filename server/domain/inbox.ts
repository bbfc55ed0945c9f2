/** The team's inbox: what people wrote by the contact form or as feedback, and what became of it (docs/decisions/0083). */
import { hourMs } from "./clock.ts";
import { codePoints, isBlank } from "./rules.ts";

/** `open`: nobody has answered. `waiting`: the team waits for the person. `done`: nothing is left to do. */
export const inboxStatuses = ["open", "waiting", "done"] as const;
export type InboxStatus = (typeof inboxStatuses)[number];

/** The panel lists messages that have been open for longer than this under "What needs you". */
export const answerDueMs = 24 * hourMs;

/** In code points. */
export const answerLimits = { subjectMax: 200, textMax: 10_000 } as const;

export interface AnswerText {
  subject: string;
  text: string;
}

/** The answers that a team member can begin with (server/features/contact/answer-texts.ts). */
export const answerTemplates = ["details", "payment", "refund", "fixed", "thanks"] as const;
export type AnswerTemplate = (typeof answerTemplates)[number];

/** The answer as it is stored and mailed. The subject gets one line, so that it can't add a mail header. */
export function tidyAnswer({ subject, text }: AnswerText): AnswerText {
  return {
    subject: subject
      .toWellFormed()
      .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
      .trim(),
    text: text
      .toWellFormed()
      .replace(/\r\n?|\u2028|\u2029/g, "\n")
      .replace(/[^\P{Cc}\t\n]/gu, "")
      .trim(),
  };
}

/** The fields of a tidied answer that are empty or too long. */
export function answerFaults({ subject, text }: AnswerText): (keyof AnswerText)[] {
  const isWrong = (value: string, maximum: number) => isBlank(value) || codePoints(value) > maximum;
  return [
    ...(isWrong(subject, answerLimits.subjectMax) ? ["subject" as const] : []),
    ...(isWrong(text, answerLimits.textMax) ? ["text" as const] : []),
  ];
}
