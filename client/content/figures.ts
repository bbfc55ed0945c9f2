/**
 * The figures a text may name: `{{price:starter}}`. They come from the catalogues when a page is drawn, so that no text
 * can go on saying what something used to cost.
 */
import { formatMoney, formatNumber, formatPercent } from "#client/lib/format.ts";
import { dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import type { Model } from "#domain/models.ts";
import { findModel, isBuilt, models } from "#domain/models.ts";
import {
  accessTokenMs,
  answerLogGoneMs,
  answerLogReadableMs,
  deviceCookieMs,
  givenPromptMs,
  keptMs,
  languageCookieMs,
  sentFormMs,
  signUpCookieMs,
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
} from "#domain/plans.ts";

type Figure =
  | { unit: "money"; cents: number }
  | { unit: "credits"; credits: number }
  | { unit: "percent"; percent: number }
  | { unit: "number"; value: number }
  | { unit: "duration"; ms: number }
  | { unit: "name"; name: string };

const number = (value: number): Figure => ({ unit: "number", value });
const ofPlan = (figure: (plan: Plan) => Figure) => (key: string | undefined) => {
  const plan = planList.find((candidate) => candidate.key === key);
  return plan && figure(plan);
};
const ofModel = (figure: (model: Model) => Figure) => (id: string | undefined) => {
  const model = findModel(id ?? "");
  return model && figure(model);
};
const alone = (figure: Figure) => (subject: string | undefined) => (subject === undefined ? figure : undefined);

/** How long things are kept: what the sweep goes by, and what cookies and the device are told. */
const periods = {
  ...keptMs,
  answerLogReadable: answerLogReadableMs,
  answerLogGone: answerLogGoneMs,
  accessToken: accessTokenMs,
  signUpCookie: signUpCookieMs,
  deviceCookie: deviceCookieMs,
  languageCookie: languageCookieMs,
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
  perMonth: requestsPerMonth,
  pack: (credits) => {
    const pack = packs.find((candidate) => String(candidate.credits) === credits);
    return pack && { unit: "money", cents: pack.priceCents };
  },
  kept: (what) => {
    const ms = Object.hasOwn(periods, what ?? "") ? periods[what as keyof typeof periods] : undefined;
    return ms === undefined ? undefined : { unit: "duration", ms };
  },
  modelCount: alone(number(models.length)),
  builtModelCount: alone(number(models.filter(isBuilt).length)),
  trialDays: alone(number(trialDays)),
  trialCredits: alone(number(trialCredits)),
  refundDays: alone(number(moneyBackDays)),
  moneyBackUsed: alone({ unit: "percent", percent: moneyBackUsedPercent }),
  graceDays: alone(number(graceDays)),
  packMonths: alone(number(packMonths)),
  renewalOverlapHours: alone(number(renewalOverlapHours)),
  annualSaving: alone({ unit: "percent", percent: annualSavingPercent }),
};

/** `starter:gpt-5`: how many answers of that model the plan's credits of a month pay for. */
function requestsPerMonth(subject: string | undefined): Figure | undefined {
  const [key, id, ...rest] = subject?.split(":") ?? [];
  const plan = planList.find((candidate) => candidate.key === key);
  const model = findModel(id ?? "");
  return plan && model && rest.length === 0 ? number(Math.floor(plan.monthlyCredits / model.credits)) : undefined;
}

/** Of what stands between the braces; undefined for what no catalogue knows. */
function figureOf(inner: string): Figure | undefined {
  const [, name = "", subject] = /^(\w+)(?::(.+))?$/.exec(inner) ?? [];
  return Object.hasOwn(figures, name) ? figures[name]?.(subject) : undefined;
}

const slot = /\{\{([^{}]*)\}\}/g;

/** The figures of a text that don't exist, and braces left open: an empty list for a sound text. */
export function unknownFigures(text: string): string[] {
  const unknown = [...text.matchAll(slot)].filter(([, inner = ""]) => figureOf(inner) === undefined).map(([whole]) => whole);
  return /\{\{|\}\}/.test(text.replace(slot, "")) ? [...unknown, "{{ without }}"] : unknown;
}

export interface FigureFormat {
  /** Of the text around the figures, whatever the reader's own is. */
  language: string;
  /** "5 credits", in the plural that language asks for. */
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
    case "name":
      return figure.name;
  }
}

/** The text with its figures as its language writes them. */
export function fillFigures(text: string, format: FigureFormat): string {
  return text.replace(slot, (whole, inner: string) => {
    const figure = figureOf(inner);
    return figure ? written(figure, format) : whole;
  });
}
