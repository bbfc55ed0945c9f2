/**
 * What a plan is worth against the time one weekly task takes: the calculator of the article on return on investment.
 * Whole minutes and integer US cents go in; every result is rounded once, at its end, so that the figures on the page
 * add up to the cent.
 */
import type { BillingInterval, PlanKey } from "./plans.ts";
import { plans, priceCents } from "./plans.ts";

/** A month is 52 ÷ 12 weeks. */
const weeksPerYear = 52;
const monthsPerYear = 12;
const minutesPerHour = 60;

export interface RoiInputs {
  /** Spent on the task every week, today. */
  taskMinutes: number;
  /** What an hour of that time costs. */
  hourlyCents: number;
  /** The share of the task's time that a model takes over, 0–100. */
  savedPercent: number;
  /** Spent every week on reading and correcting what the model wrote. */
  checkMinutes: number;
  plan: PlanKey;
  interval: BillingInterval;
}

/** Sensible, and far within what integers hold exactly. All inclusive. */
export const roiBounds = {
  taskMinutes: { min: 0, max: 168 * minutesPerHour },
  hourlyCents: { min: 0, max: 1_000_000 },
  savedPercent: { min: 0, max: 100 },
  checkMinutes: { min: 0, max: 168 * minutesPerHour },
} as const;
export type RoiAmount = keyof typeof roiBounds;

export interface RoiResult {
  /** Saved in a month less what checking takes, in minutes; negative where checking takes longer. */
  savedMinutes: number;
  valueCents: number;
  /** Of the plan for a month; a twelfth of the year where it is paid annually. */
  costCents: number;
  netCents: number;
  /** Minutes a week that have to be left over for the plan to pay for itself; null where an hour costs nothing. */
  breakEvenMinutes: number | null;
}

export function isRoiAmount(name: RoiAmount, value: number): boolean {
  const { min, max } = roiBounds[name];
  return Number.isInteger(value) && value >= min && value <= max;
}

/** Halves away from zero, so that a loss is as long as the gain it mirrors. */
function rounded(numerator: number, denominator: number): number {
  const size = Math.round(Math.abs(numerator) / denominator);
  return numerator < 0 && size > 0 ? -size : size;
}

export function monthlyCostCents(plan: PlanKey, interval: BillingInterval): number {
  const price = priceCents(plans[plan], interval);
  return interval === "year" ? rounded(price, monthsPerYear) : price;
}

/** For inputs within `roiBounds`. */
export function returnOnPlan({ taskMinutes, hourlyCents, savedPercent, checkMinutes, plan, interval }: RoiInputs): RoiResult {
  // Hundredths of a minute: the percentage stays exact.
  const weeklyHundredths = taskMinutes * savedPercent - checkMinutes * 100;
  const valueCents = rounded(weeklyHundredths * hourlyCents * weeksPerYear, 100 * minutesPerHour * monthsPerYear);
  const costCents = monthlyCostCents(plan, interval);
  return {
    savedMinutes: rounded(weeklyHundredths * weeksPerYear, 100 * monthsPerYear),
    valueCents,
    costCents,
    netCents: valueCents - costCents,
    breakEvenMinutes: hourlyCents === 0 ? null : Math.ceil((costCents * minutesPerHour * monthsPerYear) / (hourlyCents * weeksPerYear)),
  };
}
