/** What goes back, and how many credits go with it. */
import { addMilliseconds, dayMs } from "./clock.ts";
import { moneyBackDays, moneyBackUsedPercent } from "./plans.ts";

/**
 * Of each grant of a charge, the credits that all returns together take. The grants are in the order in which they are taken: of an annual
 * plan the last month first, so that months to come go before months that were used. Together it is
 * floor(credits × returned ÷ paid), and never more than was granted.
 */
export function creditsToTake(grants: readonly number[], returnedCents: number, paidCents: number): number[] {
  const granted = grants.reduce((sum, credits) => sum + credits, 0);
  let open = Number((BigInt(granted) * BigInt(Math.min(returnedCents, paidCents))) / BigInt(paidCents));
  return grants.map((credits) => {
    const taken = Math.min(credits, open);
    open -= taken;
    return taken;
  });
}

/** Why the first payment can't be taken back any more. `used`: more than the share of `moneyBackUsedPercent` is spent. */
export type MoneyBackRefusal = "too_late" | "used";

/** The last moment of the money-back guarantee. */
export function moneyBackUntil(paidAt: Date): Date {
  return addMilliseconds(paidAt, moneyBackDays * dayMs);
}

/** The most credits that may be spent of those granted so far. */
export function moneyBackAllowance(granted: number): number {
  return Math.floor((granted * moneyBackUsedPercent) / 100);
}

export function moneyBackRefusal(paidAt: Date, { granted, spent }: { granted: number; spent: number }, now: Date): MoneyBackRefusal | null {
  if (now > moneyBackUntil(paidAt)) return "too_late";
  return spent > moneyBackAllowance(granted) ? "used" : null;
}
