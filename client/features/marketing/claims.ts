/**
 * Spec §1, "Marketing claims": here alone, so that the owner can correct them in one place. Figures are plain
 * numbers. Two more claims are facts of the catalogue and follow it: how many models there are, and the days of the guarantee.
 */
export const claims = {
  savingPercent: 75,
  developers: 7_000,
  businesses: 300,
  countries: 45,
  fasterPercent: 40,
  uptimePercent: 99.9,
} as const;
