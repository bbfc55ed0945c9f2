/** Credits that the team gives, as amends or by goodwill. */
export const adjustments = {
  mostAtOnce: 10_000,
  /** By one admin within 24 hours, so that a stolen session or a slip does limited harm. Admins may change it (settings.ts). */
  mostADay: 25_000,
  /** How long they may last. */
  days: [30, 90, 365],
} as const;
