/**
 * Business time is used for periods, expiry, schedules and days of grace; the sandbox can move it forward. Tokens, leases,
 * hold deadlines and rate limits use wall time (docs/decisions/0004).
 */
export interface Clock {
  now(): Date;
}

export const wallClock: Clock = { now: () => new Date() };

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/**
 * Adds `months` to `start` in UTC and keeps the day of the month, or takes the last day of a shorter month, as Stripe's
 * billing-cycle anchor does: 31 January + 1 = 28 or 29 February, + 2 = 31 March.
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
