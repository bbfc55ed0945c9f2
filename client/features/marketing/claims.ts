/**
 * Spec §1, "Marketing claims". They are only here, so that the owner can correct them in one place. Two more claims come from
 * the catalogue: the number of models, and the days of the guarantee.
 */
export const claims = {
  savingPercent: 75,
  developers: 7_000,
  businesses: 300,
  countries: 45,
  fasterPercent: 40,
  uptimePercent: 99.9,
} as const;
