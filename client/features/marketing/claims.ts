/**
 * Spec §1, "Marketing claims". They are only here, so that the owner can correct them in one place. One more claim comes
 * from the catalogue: the days of the guarantee.
 */
export const claims = {
  /** At least so many are offered on every day (tests/domain/catalogue.test.ts). */
  models: 15,
  savingPercent: 75,
  developers: 7_000,
  businesses: 300,
  countries: 45,
  fasterPercent: 40,
  uptimePercent: 99.9,
} as const;
