/**
 * The numbers that a text may use, such as `{{price:starter}}`. They come from the catalogues when the text is shown, so
 * that no text shows an outdated price. A model that has ended is written as its successor.
 */
import { formatList, formatMoney, formatNumber, formatPercent } from "#client/lib/format.ts";
import { currentModel, offeredModels } from "#client/lib/offered-models.ts";
import { dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import type { Model } from "#domain/models.ts";
import { findModel, isBuilt, startOf } from "#domain/models.ts";
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
  keptMs,
  languageCookieMs,
  recoveryMs,
  sentFormMs,
  signUpCookieMs,
  undoEmailMs,
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

type Figure =
  | { unit: "money"; cents: number }
  | { unit: "credits"; credits: number }
  | { unit: "percent"; percent: number }
  | { unit: "number"; value: number }
  | { unit: "duration"; ms: number }
  | { unit: "name"; name: string }
  | { unit: "day"; day: string }
  | { unit: "names"; names: readonly string[] };

const number = (value: number): Figure => ({ unit: "number", value });
const ofPlan = (figure: (plan: Plan) => Figure) => (key: string | undefined) => {
  const plan = planList.find((candidate) => candidate.key === key);
  return plan && figure(plan);
};
const ofModel = (figure: (model: Model) => Figure) => (id: string | undefined) => {
  const model = currentModel(id ?? "");
  return model && figure(model);
};
const counted = (models: () => readonly Model[]) => (subject: string | undefined) =>
  subject === undefined ? number(models().length) : undefined;
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
};

const figures: Readonly<Record<string, (subject: string | undefined) => Figure | undefined>> = {
  price: ofPlan((plan) => ({ unit: "money", cents: plan.monthlyPriceCents })),
  annual: ofPlan((plan) => ({ unit: "money", cents: annualPriceCents(plan) })),
  credits: ofPlan((plan) => number(plan.monthlyCredits)),
  perMinute: ofPlan((plan) => number(plan.requestsPerMinute)),
  atOnce: ofPlan((plan) => number(plan.concurrentAnswers)),
  cost: ofModel((model) => ({ unit: "credits", credits: model.credits })),
  costOf: ofModel((model) => number(model.credits)),
  model: ofModel((model) => ({ unit: "name", name: model.name })),
  end: (id) => {
    const until = findModel(id ?? "")?.until;
    return until === undefined ? undefined : { unit: "day", day: until };
  },
  perMonth: requestsPerMonth,
  modelsOf: (provider) => {
    const names = offeredModels()
      .filter((model) => model.provider === provider)
      .map(({ name }) => name);
    return names.length === 0 ? undefined : { unit: "names", names };
  },
  pack: (credits) => {
    const pack = packs.find((candidate) => String(candidate.credits) === credits);
    return pack && { unit: "money", cents: pack.priceCents };
  },
  kept: (what) => {
    const ms = Object.hasOwn(periods, what ?? "") ? periods[what as keyof typeof periods] : undefined;
    return ms === undefined ? undefined : { unit: "duration", ms };
  },
  modelCount: counted(() => offeredModels()),
  builtModelCount: counted(() => offeredModels().filter(isBuilt)),
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

/** For `starter:gpt-5`: how many answers of that model a month's credits of the plan pay for. */
function requestsPerMonth(subject: string | undefined): Figure | undefined {
  const [key, id, ...rest] = subject?.split(":") ?? [];
  const plan = planList.find((candidate) => candidate.key === key);
  const model = currentModel(id ?? "");
  return plan && model && rest.length === 0 ? number(Math.floor(plan.monthlyCredits / model.credits)) : undefined;
}

/** The number for the text between the braces, or undefined if no catalogue has it. */
function figureOf(inner: string): Figure | undefined {
  const [, name = "", subject] = /^(\w+)(?::(.+))?$/.exec(inner) ?? [];
  return Object.hasOwn(figures, name) ? figures[name]?.(subject) : undefined;
}

const slot = /\{\{([^{}]*)\}\}/g;

/** The unknown numbers in a text, and braces left open; empty for a correct text. */
export function unknownFigures(text: string): string[] {
  const unknown = [...text.matchAll(slot)].filter(([, inner = ""]) => figureOf(inner) === undefined).map(([whole]) => whole);
  return /\{\{|\}\}/.test(text.replace(slot, "")) ? [...unknown, "{{ without }}"] : unknown;
}

export interface FigureFormat {
  /** The language of the text around the numbers, which may not be the reader's. */
  language: string;
  /** "5 credits", in the right plural form of that language. */
  credits: (credits: number) => string;
}

const durationUnits = [
  ["year", 365 * dayMs],
  ["day", dayMs],
  ["hour", hourMs],
] as const;

/** In the largest unit it is a whole number of: "2 years" (of 365 days), "30 days", "49 hours", "10 minutes". */
function formatDuration(ms: number, language: string): string {
  const [unit, length] = durationUnits.find(([, unitMs]) => ms % unitMs === 0) ?? ["minute", minuteMs];
  const value = ms / length;
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(value);
}

function written(figure: Figure, { language, credits }: FigureFormat): string {
  switch (figure.unit) {
    case "money":
      return formatMoney(figure.cents, language);
    case "credits":
      return credits(figure.credits);
    case "percent":
      return formatPercent(figure.percent, language);
    case "number":
      return formatNumber(figure.value, language);
    case "duration":
      return formatDuration(figure.ms, language);
    case "day":
      return new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(startOf(figure.day));
    case "name":
      return figure.name;
    case "names":
      return formatList(figure.names, language);
  }
}

/** The text with its numbers filled in and formatted. */
export function fillFigures(text: string, format: FigureFormat): string {
  return text.replace(slot, (whole, inner: string) => {
    const figure = figureOf(inner);
    return figure ? written(figure, format) : whole;
  });
}
