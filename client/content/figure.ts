/** A number or a name in a text, with the way to write it. */
import { formatList, formatMoney, formatNumber, formatPercent } from "#client/lib/format.ts";
import { dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import { startOf } from "#domain/models.ts";

export type Figure =
  | { unit: "money"; cents: number }
  | { unit: "credits"; credits: number }
  | { unit: "percent"; percent: number }
  | { unit: "number"; value: number }
  | { unit: "duration"; ms: number }
  | { unit: "name"; name: string }
  | { unit: "day"; day: string }
  | { unit: "names"; names: readonly string[] };

/** For `{{price:starter}}` the key is `price`, and the function gets the subject, `starter`. */
export type Figures = Readonly<Record<string, (subject: string | undefined) => Figure | undefined>>;

export const number = (value: number): Figure => ({ unit: "number", value });

/** The number for the text between the braces, or undefined if these figures don't have it. */
function figureOf(figures: Figures, inner: string): Figure | undefined {
  const [, name = "", subject] = /^(\w+)(?::(.+))?$/.exec(inner) ?? [];
  return Object.hasOwn(figures, name) ? figures[name]?.(subject) : undefined;
}

const slot = /\{\{([^{}]*)\}\}/g;

/** The unknown numbers in a text, and braces left open; empty for a correct text. */
export function unknownIn(figures: Figures, text: string): string[] {
  const unknown = [...text.matchAll(slot)].filter(([, inner = ""]) => figureOf(figures, inner) === undefined).map(([whole]) => whole);
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

/** The text with those of its numbers filled in and formatted that are among these figures. */
export function fillIn(figures: Figures, text: string, format: FigureFormat): string {
  return text.replace(slot, (whole, inner: string) => {
    const figure = figureOf(figures, inner);
    return figure ? written(figure, format) : whole;
  });
}
