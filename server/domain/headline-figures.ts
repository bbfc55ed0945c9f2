/**
 * The figures by which a range of days is compared with the equally long one directly before it. Each is named after its text.
 *
 * A figure that stands at a moment (revenue, subscriptions, people, outstanding credits) is that of the range's end. A share changes by points,
 * not by a percentage of itself.
 */
import { dayMs } from "./clock.ts";
import { percentOf } from "./figures.ts";

type HeadlineUnit = "cents" | "number" | "percent" | "milliseconds";

/** `better`: what is good news for the business; null where neither is. */
export const headlineFigures = {
  "revenue.mrr": { unit: "cents", better: "more" },
  "revenue.new": { unit: "cents", better: "more" },
  "revenue.expansion": { unit: "cents", better: "more" },
  "revenue.contraction": { unit: "cents", better: "less" },
  "revenue.churn": { unit: "cents", better: "less" },
  "subscriptions.running": { unit: "number", better: "more" },
  "subscriptions.started": { unit: "number", better: "more" },
  "subscriptions.ended": { unit: "number", better: "less" },
  "people.people": { unit: "number", better: "more" },
  "people.joined": { unit: "number", better: "more" },
  "people.left": { unit: "number", better: "less" },
  "people.trials": { unit: "number", better: "more" },
  "people.converted": { unit: "number", better: "more" },
  "people.conversion": { unit: "percent", better: "more" },
  "credits.sold": { unit: "number", better: "more" },
  "credits.given": { unit: "number", better: null },
  "credits.spent": { unit: "number", better: null },
  "credits.expired": { unit: "number", better: null },
  "credits.clawedBack": { unit: "number", better: "less" },
  "credits.outstanding": { unit: "number", better: null },
  "answers.answers": { unit: "number", better: "more" },
  "answers.failures": { unit: "percent", better: "less" },
  "answers.firstText": { unit: "milliseconds", better: "less" },
  "answers.firstTextSlow": { unit: "milliseconds", better: "less" },
  "answers.cost": { unit: "cents", better: null },
  "answers.margin": { unit: "cents", better: "more" },
} as const satisfies Record<string, { unit: HeadlineUnit; better: "more" | "less" | null }>;

export type HeadlineName = keyof typeof headlineFigures;
export const headlineNames = Object.keys(headlineFigures) as HeadlineName[];

/** The equally long range directly before. */
export function rangeBefore({ from, to }: { from: string; to: string }): { from: string; to: string } {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  return { from: day(2 * first - last - dayMs), to: day(first - dayMs) };
}

/** Null where one of the two is not known. `percent`: of what was before, with one decimal; null also of shares, and of what was zero. */
export function changeOf(name: HeadlineName, value: number | null, before: number | null) {
  if (value === null || before === null) return { change: null, percent: null };
  // Differences of decimals would have more digits than the figures.
  const change = Math.round((value - before) * 10) / 10;
  return { change, percent: headlineFigures[name].unit === "percent" ? null : percentOf(change, Math.abs(before)) };
}

/** Whether a change is good news; undefined where it is neither. */
export function judgementOf(name: HeadlineName, change: number | null): "better" | "worse" | undefined {
  const { better } = headlineFigures[name];
  if (better === null || change === null || change === 0) return undefined;
  return change > 0 === (better === "more") ? "better" : "worse";
}
