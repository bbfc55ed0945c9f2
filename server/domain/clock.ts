/**
 * Business time: periods, expiry, schedules and grace run on it, and it moves with the sandbox's clock. Tokens, leases,
 * hold deadlines and rate limits run on wall time instead.
 */
export interface Clock {
  now(): Date;
}

export const wallClock: Clock = { now: () => new Date() };

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/**
 * `months` after `start` in UTC, on the original day clamped to the month's length (Stripe's billing-cycle anchor):
 * 31 January + 1 = 28 or 29 February, + 2 = 31 March.
 */
export function addMonths(start: Date, months: number): Date {
  const result = new Date(start);
  result.setUTCDate(1);
  result.setUTCMonth(result.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(result.getUTCFullYear(), result.getUTCMonth() + 1, 0)).getUTCDate();
  result.setUTCDate(Math.min(start.getUTCDate(), lastDay));
  return result;
}

export function addMilliseconds(start: Date, milliseconds: number): Date {
  return new Date(start.getTime() + milliseconds);
}
