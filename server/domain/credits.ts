/** Arithmetic of the wallet, shared by server and client. Credits are non-negative safe integers. */

/** What a grant came from; decides who may spend it on what (decisions.md, "When credits expire" and "Trial"). */
export const grantKinds = ["plan", "trial", "pack", "adjustment"] as const;
export type GrantKind = (typeof grantKinds)[number];

/** Credit status levels (spec §4): 1000 or more excellent, 500–999 good, 100–499 low, below 100 very low. */
export const creditLevels = ["excellent", "good", "low", "verylow"] as const;
export type CreditLevel = (typeof creditLevels)[number];

export function creditLevel(credits: number): CreditLevel {
  if (credits >= 1000) return "excellent";
  if (credits >= 500) return "good";
  return credits >= 100 ? "low" : "verylow";
}

/** The ceiling of one posting: far above any sale, far below where integers stop being exact. */
export const maximumCredits = 1_000_000_000;

export function isCreditAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= maximumCredits;
}

/**
 * The grants a spend may draw on. A plan's month and packs need an active subscription (spec §4: without one, models are
 * locked); trial credits reach small text models only, and every model once the person has subscribed.
 */
export function spendableKinds(subscribed: boolean, smallTextModel: boolean): GrantKind[] {
  const kinds: GrantKind[] = ["adjustment"];
  if (subscribed) kinds.push("plan", "pack");
  if (subscribed || smallTextModel) kinds.push("trial");
  return kinds;
}
