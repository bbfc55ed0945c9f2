/**
 * ISO 8601 durations with calendar arithmetic in UTC. Years and months are added first and keep the day of the month, or take
 * the last day of a shorter month, as a billing cycle does. Weeks, days and the time are added as exact spans.
 */
import { addMilliseconds, addMonths, dayMs, hourMs, minuteMs } from "#domain/clock.ts";

export interface Duration {
  months: number;
  milliseconds: number;
}

const pattern =
  /^P(?=\d|T\d)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/;

/** Undefined if the text is not a duration of the form PnYnMnWnDTnHnMnS with whole numbers, or if the duration is zero. */
export function parseDuration(text: string): Duration | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = match.slice(1).map((part: string | undefined) => Number(part ?? 0));
  const duration = {
    months: (years ?? 0) * 12 + (months ?? 0),
    milliseconds: ((weeks ?? 0) * 7 + (days ?? 0)) * dayMs + (hours ?? 0) * hourMs + (minutes ?? 0) * minuteMs + (seconds ?? 0) * 1_000,
  };
  return duration.months === 0 && duration.milliseconds === 0 ? undefined : duration;
}

export function addDuration(start: Date, duration: Duration): Date {
  return addMilliseconds(addMonths(start, duration.months), duration.milliseconds);
}
