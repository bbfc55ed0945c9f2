/** The sweeps that business time makes due; worker/schedules.ts runs one for each. */
export const sweepNames = [
  "reconcile",
  "full-check",
  "scheduled-grants",
  "grace-periods",
  "expired-grants",
  "trials",
  "renewal-notices",
  "factor-resets",
  "account-deletions",
] as const;
export type SweepName = (typeof sweepNames)[number];
