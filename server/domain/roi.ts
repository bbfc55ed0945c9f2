/**
 * The calculator of the article on return on investment: what a plan costs, compared with the time it saves on one weekly
 * task. Inputs are whole minutes and integer US cents. Each result is rounded once, at the end, so that the figures on the
 * page add up to the cent.
 */
import type { BillingInterval, PlanKey } from "./plans.ts";
import { plans, priceCents } from "./plans.ts";

/** A month is 52 ÷ 12 weeks. */
const weeksPerYear = 52;
const monthsPerYear = 12;
const minutesPerHour = 60;

export interface RoiInputs {
  /** Minutes a week the task takes without a model. */
  taskMinutes: number;
  /** What an hour of that time costs. */
  hourlyCents: number;
  /** The share of the task's time that a model takes over, 0–100. */
  savedPercent: number;
  /** Minutes a week for reading and correcting what the model wrote. */
  checkMinutes: number;
  plan: PlanKey;
  interval: BillingInterval;
}

/** Inclusive limits; far below the limit of exact integers. */
export const roiBounds = {
  taskMinutes: { min: 0, max: 168 * minutesPerHour },
  hourlyCents: { min: 0, max: 1_000_000 },
  savedPercent: { min: 0, max: 100 },
  checkMinutes: { min: 0, max: 168 * minutesPerHour },
} as const;
export type RoiAmount = keyof typeof roiBounds;

export interface RoiResult {
  /** Minutes saved in a month minus the time for checking; negative if checking takes longer. */
  savedMinutes: number;
  valueCents: number;
  /** The plan's price for a month; for annual plans a twelfth of the year's price. */
  costCents: number;
  netCents: number;
  /** Minutes a week that must be saved for the plan to pay for itself; null if an hour costs nothing. */
  breakEvenMinutes: number | null;
}

export function isRoiAmount(name: RoiAmount, value: number): boolean {
  const { min, max } = roiBounds[name];
  return Number.isInteger(value) && value >= min && value <= max;
}

/** Rounds halves away from zero, so that a loss and a gain of the same size round to the same figure. */
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
  // Hundredths of a minute keep the percentage exact.
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
