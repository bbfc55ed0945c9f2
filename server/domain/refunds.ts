/** What goes back, and how many credits go with it. */
import { addMilliseconds, dayMs } from "./clock.ts";
import { moneyBackDays, moneyBackUsedPercent, withdrawalDays } from "./plans.ts";

/**
 * How many credits all returns together take of each grant of a charge. The grants are in the order in which they are taken: of an annual
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

/** The last moment in which a person can withdraw from a contract: the day of its conclusion does not count, and days end in UTC. */
export function withdrawalUntil(concludedAt: Date): Date {
  const days = withdrawalDays + 1;
  return new Date(Date.UTC(concludedAt.getUTCFullYear(), concludedAt.getUTCMonth(), concludedAt.getUTCDate() + days) - 1);
}

/** A contract's payment in cents, what of it went back already, its credits, and how many of them were used. */
export interface Settlement {
  paidCents: number;
  returnedCents: number;
  granted: number;
  used: number;
}

/**
 * What a withdrawal pays back: the share of the payment that belongs to credits that were not used, less what went back already. It is
 * rounded up, for the consumer, unless the refund would then take a credit that was used: where a credit costs less than a cent.
 */
export function withdrawalCents({ paidCents, returnedCents, granted, used }: Settlement): number {
  const unspent = granted - used;
  const share = BigInt(paidCents) * BigInt(unspent);
  const roundedUp = Number((share + BigInt(granted - 1)) / BigInt(granted));
  const [taken = 0] = creditsToTake([granted], roundedUp, paidCents);
  return Math.max((taken > unspent ? roundedUp - 1 : roundedUp) - returnedCents, 0);
}
