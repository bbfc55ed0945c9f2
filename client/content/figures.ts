/**
 * The numbers that a text may use, such as `{{price:starter}}`. They come from the catalogues when the text is shown, so
 * that no text shows an outdated price. A model that has ended is written as its successor.
 */

import { sharedFiles } from "#client/sw/messages.ts";
import { dayMs } from "#domain/clock.ts";
import { keptMs } from "#domain/kept-periods.ts";
import { findModel } from "#domain/models.ts";
import {
  accessTokenMs,
  answerLogGoneMs,
  answerLogReadableMs,
  deletionMs,
  deviceCookieMs,
  emailChangeMs,
  factorResetWaitMs,
  factorWaitMs,
  givenPromptMs,
  googleMs,
  languageCookieMs,
  recoveryMs,
  sentFormMs,
  signUpCookieMs,
  undoEmailMs,
  waitingFileMs,
} from "#domain/periods.ts";
import type { Plan } from "#domain/plans.ts";
import {
  annualPriceCents,
  annualSavingPercent,
  graceDays,
  moneyBackDays,
  moneyBackUsedPercent,
  packMonths,
  packs,
  planList,
  renewalOverlapHours,
  trialCredits,
  trialDays,
  withdrawalDays,
} from "#domain/plans.ts";
import { supportAccessDays } from "#domain/support-access.ts";
import type { Figure, Figures } from "./figure.ts";
import { number, unknownIn } from "./figure.ts";
import { modelFigures } from "./model-figures.ts";

const ofPlan = (figure: (plan: Plan) => Figure) => (key: string | undefined) => {
  const plan = planList.find((candidate) => candidate.key === key);
  return plan && figure(plan);
};
const alone = (figure: Figure) => (subject: string | undefined) => (subject === undefined ? figure : undefined);

/** Retention periods: the sweep, the cookies and the device use the same ones. */
const periods = {
  ...keptMs,
  deletion: deletionMs,
  answerLogReadable: answerLogReadableMs,
  answerLogGone: answerLogGoneMs,
  accessToken: accessTokenMs,
  signUpCookie: signUpCookieMs,
  deviceCookie: deviceCookieMs,
  recoveryCookie: recoveryMs,
  emailChangeCookie: emailChangeMs,
  undoEmail: undoEmailMs,
  factorResetWait: factorResetWaitMs,
  google: googleMs,
  languageCookie: languageCookieMs,
  pendingCookie: factorWaitMs,
  givenPrompt: givenPromptMs,
  sentForm: sentFormMs,
  waitingFile: waitingFileMs,
  sharedFiles: sharedFiles.waitMs,
  supportAccessShort: supportAccessDays[0] * dayMs,
  supportAccessLong: supportAccessDays[1] * dayMs,
};

/** Those that stay the same whatever models a page shows. */
export const fixedFigures: Figures = {
  price: ofPlan((plan) => ({ unit: "money", cents: plan.monthlyPriceCents })),
  annual: ofPlan((plan) => ({ unit: "money", cents: annualPriceCents(plan) })),
  credits: ofPlan((plan) => number(plan.monthlyCredits)),
  perMinute: ofPlan((plan) => number(plan.requestsPerMinute)),
  atOnce: ofPlan((plan) => number(plan.concurrentAnswers)),
  end: (id) => {
    const until = findModel(id ?? "")?.until;
    return until === undefined ? undefined : { unit: "day", day: until };
  },
  pack: (credits) => {
    const pack = packs.find((candidate) => String(candidate.credits) === credits);
    return pack && { unit: "money", cents: pack.priceCents };
  },
  kept: (what) => {
    const ms = Object.hasOwn(periods, what ?? "") ? periods[what as keyof typeof periods] : undefined;
    return ms === undefined ? undefined : { unit: "duration", ms };
  },
  trialDays: alone(number(trialDays)),
  trialCredits: alone(number(trialCredits)),
  refundDays: alone(number(moneyBackDays)),
  withdrawalDays: alone(number(withdrawalDays)),
  moneyBackUsed: alone({ unit: "percent", percent: moneyBackUsedPercent }),
  graceDays: alone(number(graceDays)),
  packMonths: alone(number(packMonths)),
  renewalOverlapHours: alone(number(renewalOverlapHours)),
  annualSaving: alone({ unit: "percent", percent: annualSavingPercent }),
};

export const allFigures: Figures = { ...modelFigures, ...fixedFigures };

/** The unknown numbers in a text, and braces left open; empty for a correct text. */
export const unknownFigures = (text: string): string[] => unknownIn(allFigures, text);
