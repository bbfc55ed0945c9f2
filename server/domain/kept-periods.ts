/**
 * How long data is kept before a sweep deletes it. server/domain/retention.ts names the tables and the reasons. It has a file of its own because
 * every page downloads the other periods (periods.ts), and no page needs these.
 */
import { dayMs, hourMs } from "./clock.ts";
import { answerLogReadableMs, exportFileMs } from "./periods.ts";

export const keptMs = {
  signUps: 30 * dayMs,
  links: 7 * dayMs,
  pendingSignIns: dayMs,
  passkeyChallenges: dayMs,
  factorResets: 30 * dayMs,
  sessions: 30 * dayMs,
  attempts: dayMs,
  answerLogs: answerLogReadableMs + hourMs,
  answerKeys: 90 * dayMs,
  deadLetters: 90 * dayMs,
  mailBodies: 30 * dayMs,
  mails: 365 * dayMs,
  contactMessages: 2 * 365 * dayMs,
  auditEvents: 2 * 365 * dayMs,
  exportFiles: exportFileMs,
  exports: 7 * dayMs,
  unsentFiles: 7 * dayMs,
  dictations: 7 * dayMs,
  unfinishedFiles: hourMs,
  stripePayloads: 90 * dayMs,
  googleAnswers: dayMs,
  trialMailboxes: 2 * 365 * dayMs,
  findings: 365 * dayMs,
  paymentChecks: 30 * dayMs,
  abandonedOrders: 30 * dayMs,
  unpaidOrders: 90 * dayMs,
  supportAccess: 30 * dayMs,
  putOffNeeds: dayMs,
} as const;

export type Sweep = keyof typeof keptMs;
