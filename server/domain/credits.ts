/** Arithmetic of the wallet, shared by server and client. Credits are non-negative safe integers. */

/** Where a grant came from. This decides when and on which models it may be spent (`spendableKinds`). */
export const grantKinds = ["plan", "trial", "pack", "adjustment"] as const;
export type GrantKind = (typeof grantKinds)[number];

/** Why credits were taken back. The ledger refuses any other. */
export const clawbackReasons = [
  "refund",
  /** The bank decided a dispute for its customer. */
  "dispute",
  /** A refund, a dispute or both: the books do not say which. */
  "payment_returned",
  /** The money-back guarantee. */
  "guarantee",
  /** The right of withdrawal. */
  "withdrawal",
  /** The payment came after the plan's end, and goes back. */
  "late_payment",
  /** The bank took back the transfer that had paid for them. */
  "transfer_reversed",
  /** They had come twice for one payment. */
  "duplicate",
  "taken_by_team",
  /** The reason is not known. */
  "other",
] as const;
export type ClawbackReason = (typeof clawbackReasons)[number];

/** Credit status levels (spec §4): 1000 or more excellent, 500–999 good, 100–499 low, below 100 very low. */
const creditLevels = ["excellent", "good", "low", "verylow"] as const;
export type CreditLevel = (typeof creditLevels)[number];

export function creditLevel(credits: number): CreditLevel {
  if (credits >= 1000) return "excellent";
  if (credits >= 500) return "good";
  return credits >= 100 ? "low" : "verylow";
}

/** How much of the month's own credits is left; colours and warnings follow it. (The levels above are fixed amounts, the same for every plan.) */
const creditSupplies = ["plenty", "low", "out"] as const;
export type CreditSupply = (typeof creditSupplies)[number];

/** `monthlyCredits` are the credits of the plan or the trial. A quarter of them or less is low, a twentieth or less is nearly out. */
export function creditSupply(credits: number, monthlyCredits: number): CreditSupply {
  if (credits * 4 > monthlyCredits) return "plenty";
  return credits * 20 > monthlyCredits ? "low" : "out";
}

/** The most credits of one posting: far above any sale, far below the limit of exact integers. */
export const maximumCredits = 1_000_000_000;

export function isCreditAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= maximumCredits;
}

/**
 * The kinds of grant that may pay for an answer. Plan credits and packs need an active subscription (spec §4: without one,
 * models are locked). Trial credits pay for small text models only, and for every model once the person has subscribed.
 */
export function spendableKinds(subscribed: boolean, smallTextModel: boolean): GrantKind[] {
  const kinds: GrantKind[] = ["adjustment"];
  if (subscribed) kinds.push("plan", "pack");
  if (subscribed || smallTextModel) kinds.push("trial");
  return kinds;
}
