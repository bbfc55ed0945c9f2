/**
 * What the figures of the business mean (docs/decisions/0079). Server and client share the arithmetic.
 *
 * - **MRR** (monthly recurring revenue): what the subscriptions that run would bring in a month at their list prices; of an annual one a
 *   twelfth. A subscription runs while it is active or past due. Discounts of a first period, packs and what was paid back are not part of
 *   it; tax is where a price includes it.
 * - A subscription that begins to run is **new** (also that of a person who comes back), one that stops is **churn**; one that goes on at a
 *   higher monthly price is **expansion**, at a lower one **contraction**. It counts on the day on which the change took effect.
 * - **Sold** credits came with a plan or a pack, **given** ones with a trial or an adjustment. **Outstanding** are those that people have.
 * - A trial is **converted** when the person's first subscription begins to run after it, and counts on the day on which the trial began.
 * - The **margin** of answers is what their sold credits are worth, each at the least that one sells for, less what the providers take.
 *   Credits that were given bring nothing.
 *
 * The time to the **first text** of an answer is what the person waits: from the request to the first words that a model sends. Times are
 * kept in steps of a tenth, so that a day of a model is a few rows; a median is exact to half a step.
 *
 * All days are those of UTC.
 */
import { addMilliseconds, dayMs } from "./clock.ts";
import type { GrantKind } from "./credits.ts";
import type { BillingInterval } from "./plans.ts";
import { annualPriceCents, packs, planList } from "./plans.ts";
import type { SubscriptionStatus } from "./subscription.ts";

/** A twelfth of a cent: the unit in which monthly and annual prices add up without rounding. */
export const twelfths = 12;

/** What a subscription brings in a month, in twelfths of a cent: nothing unless it runs. */
export function monthlyTwelfths(status: SubscriptionStatus, priceCents: number, interval: BillingInterval): number {
  if (!runs(status)) return 0;
  return interval === "year" ? priceCents : priceCents * twelfths;
}

export function runs(status: SubscriptionStatus): boolean {
  return status === "active" || status === "past_due";
}

export const movements = ["new", "expansion", "contraction", "churn"] as const;
export type Movement = (typeof movements)[number];
/** The sum of each movement; none is negative. */
export type Movements = Record<Movement, number>;

export const noMovements: Movements = { new: 0, expansion: 0, contraction: 0, churn: 0 };

/** How the revenue of one subscription moved. */
export function movementsOf(before: number, after: number): Movements {
  const [more, less] = [Math.max(after - before, 0), Math.max(before - after, 0)];
  if (before === 0) return { ...noMovements, new: more };
  return after === 0 ? { ...noMovements, churn: less } : { ...noMovements, expansion: more, contraction: less };
}

/** Revenue at the end of a period that began with `start`. */
export function movedFrom(start: number, { new: begun, expansion, contraction, churn }: Movements): number {
  return start + begun + expansion - contraction - churn;
}

/**
 * A start, its movements and its end in whole cents, given in twelfths of a cent. Start and end are rounded, and the movements so that they
 * lead from one to the other.
 */
export function movementCents(start: number, moves: Movements): { start: number; end: number } & Movements {
  const cents = (value: number) => Math.round(value / twelfths);
  let exact = start;
  const moved = (by: number) => {
    const before = cents(exact);
    exact += by;
    return Math.abs(cents(exact) - before);
  };
  const rounded = {
    new: moved(moves.new),
    expansion: moved(moves.expansion),
    contraction: moved(-moves.contraction),
    churn: moved(-moves.churn),
  };
  return { start: cents(start), ...rounded, end: cents(exact) };
}

/** Whether credits of this kind were paid for. */
export function isSold(kind: GrantKind): boolean {
  return kind === "plan" || kind === "pack";
}

/** The least that a credit sells for, in packs and in plans by the month and by the year. */
export const creditMicroDollars = Math.floor(
  1e4 *
    Math.min(
      ...packs.map((pack) => pack.priceCents / pack.credits),
      ...planList.flatMap((plan) => [plan.monthlyPriceCents / plan.monthlyCredits, annualPriceCents(plan) / (12 * plan.monthlyCredits)]),
    ),
);

/** What the providers take is in millionths of a dollar. */
export const microDollarsPerCent = 10_000;

/** In micro-dollars. Negative if the providers take more than the credits are worth. */
export function marginMicroDollars(soldCredits: number, costMicroDollars: number): number {
  return soldCredits * creditMicroDollars - costMicroDollars;
}

/** A share of a whole, in percent with one decimal; null if the whole is zero. */
export function percentOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 1_000) / 10;
}

export type FigureUnit = "day" | "month";

/** A range of up to this many days is shown by day, a longer one by month. */
const longestByDay = 92;
/** The longest range, in years. */
export const longestYears = 10;

const day = (time: Date) => time.toISOString().slice(0, 10);

/** Ranges that end today: a number of days, or this month and the eleven before. */
export const presetRanges = ["7d", "30d", "90d", "12m"] as const;
export type PresetRange = (typeof presetRanges)[number];

const daysOf: Record<Exclude<PresetRange, "12m">, number> = { "7d": 7, "30d": 30, "90d": 90 };

/** The first and the last day. */
export function presetDays(range: PresetRange, now: Date): { from: string; to: string } {
  if (range === "12m") return { from: day(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11, 1))), to: day(now) };
  return { from: day(addMilliseconds(now, (1 - daysOf[range]) * dayMs)), to: day(now) };
}

export function unitOf(from: string, to: string): FigureUnit {
  return (Date.parse(to) - Date.parse(from)) / dayMs < longestByDay ? "day" : "month";
}

/** The first day of each day or month of a range; a month begins at `from` if that is within it. */
export function startsOf(from: string, to: string, unit: FigureUnit): string[] {
  const starts: string[] = [];
  for (let start = from; start <= to; ) {
    starts.push(start);
    const next = new Date(start);
    if (unit === "month") next.setUTCMonth(next.getUTCMonth() + 1, 1);
    else next.setUTCDate(next.getUTCDate() + 1);
    start = day(next);
  }
  return starts;
}

/** Each step of the times to the first text is this many times the step before. */
export const firstTextGrowth = 1.1;

/** How many answers were within each step, the fastest first. */
export interface TimedAnswers {
  bucket: number;
  answers: number;
}

/** The time that a share of the answers needed at most, from the middle of its step; null without answers. In milliseconds. */
export function quantileMs(steps: readonly TimedAnswers[], share: number): number | null {
  const wanted = share * steps.reduce((sum, { answers }) => sum + answers, 0);
  let reached = 0;
  for (const { bucket, answers } of steps) {
    reached += answers;
    if (answers > 0 && reached >= wanted) return Math.round(firstTextGrowth ** (bucket - 0.5));
  }
  return null;
}

/** How many accounts are counted while an admin waits, which takes some fifty milliseconds. */
export const mostCounted = 250_000;
