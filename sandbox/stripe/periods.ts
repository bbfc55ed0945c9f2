import { addMonths } from "#domain/clock.ts";
import { daySeconds } from "./context.ts";
import type { Price } from "./wire.ts";

function shift(anchor: number, recurring: NonNullable<Price["recurring"]>, periods: number): number {
  const count = recurring.interval_count * periods;
  if (recurring.interval === "day") return anchor + count * daySeconds;
  if (recurring.interval === "week") return anchor + count * 7 * daySeconds;
  const months = recurring.interval === "year" ? 12 * count : count;
  return addMonths(new Date(anchor * 1000), months).getTime() / 1000;
}

const shortestPeriodDays = { day: 1, week: 7, month: 28, year: 365 } as const;

function shortestPeriodSeconds(recurring: NonNullable<Price["recurring"]>): number {
  const days = Object.entries(shortestPeriodDays).find(([interval]) => interval === recurring.interval)?.[1] ?? 1;
  return days * recurring.interval_count * daySeconds;
}

/**
 * The first period boundary after `after` in the billing cycle that starts at `anchor`, all in Unix seconds. The day of the month
 * comes from the anchor and not from the last period: 31 January, 28 February, 31 March. Throws if the price is not recurring.
 */
export function nextBoundary(anchor: number, price: Price, after: number): number {
  const recurring = price.recurring;
  if (!recurring) throw new Error(`price ${price.id} does not recur`);
  // A count of the shortest possible periods is too high, so the search starts at 85 % of it, which is below the boundary.
  let periods = Math.max(0, Math.floor(((after - anchor) / shortestPeriodSeconds(recurring)) * 0.85) - 1);
  while (shift(anchor, recurring, periods) <= after) periods += 1;
  return shift(anchor, recurring, periods);
}

const sunday = 0;
const saturday = 6;

/** The same time of day so many banking days later, by UTC: Monday to Friday. The holidays of banks are not played. */
export function afterBusinessDays(from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0; ) {
    at += daySeconds;
    const day = new Date(at * 1000).getUTCDay();
    if (day !== sunday && day !== saturday) left -= 1;
  }
  return at;
}

export function sameInterval(left: Price, right: Price): boolean {
  return left.recurring?.interval === right.recurring?.interval && left.recurring?.interval_count === right.recurring?.interval_count;
}
