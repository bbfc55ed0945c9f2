/** How long data is kept before a sweep deletes it. server/domain/retention.ts names the tables and the reasons. */
import { dayMs, hourMs } from "./clock.ts";

/** For this long after its end an answer's events can be read. After that the text comes from its conversation, in one piece. */
export const answerLogReadableMs = 24 * hourMs;

/** By this time the events of an answer are deleted even if the worker is busy: it looks for them every hour. */
export const answerLogGoneMs = 49 * hourMs;

export const keptMs = {
  unconfirmedAccounts: 30 * dayMs,
  links: 7 * dayMs,
  sessions: 30 * dayMs,
  attempts: dayMs,
  answerLogs: answerLogReadableMs + hourMs,
  deadLetters: 90 * dayMs,
  mailBodies: 30 * dayMs,
  mails: 365 * dayMs,
  contactMessages: 2 * 365 * dayMs,
  stripePayloads: 90 * dayMs,
} as const;

export type Sweep = keyof typeof keptMs;
