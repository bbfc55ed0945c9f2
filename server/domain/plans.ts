/**
 * The one catalogue of what is sold (decisions.md, "Money and credits"): cards, checkout, grants, summary, support
 * answers and translations all read it. Money is integer US cents, credits are integers.
 */
export const planKeys = ["starter", "basic", "professional", "enterprise"] as const;
export type PlanKey = (typeof planKeys)[number];

export const billingIntervals = ["month", "year"] as const;
export type BillingInterval = (typeof billingIntervals)[number];

export interface Plan {
  key: PlanKey;
  name: string;
  monthlyPriceCents: number;
  /** Granted at the start of every month, annual plans included (spec §9, plan cards). */
  monthlyCredits: number;
  /** Answers a person may start per minute. */
  requestsPerMinute: number;
  /** Answers a person may have running at the same time. */
  concurrentAnswers: number;
  mostPopular: boolean;
}

export const plans: Readonly<Record<PlanKey, Plan>> = {
  starter: {
    key: "starter",
    name: "Starter",
    monthlyPriceCents: 1999,
    monthlyCredits: 300,
    requestsPerMinute: 10,
    concurrentAnswers: 1,
    mostPopular: false,
  },
  basic: {
    key: "basic",
    name: "Basic",
    monthlyPriceCents: 3999,
    monthlyCredits: 600,
    requestsPerMinute: 20,
    concurrentAnswers: 2,
    mostPopular: true,
  },
  professional: {
    key: "professional",
    name: "Professional",
    monthlyPriceCents: 4999,
    monthlyCredits: 750,
    requestsPerMinute: 40,
    concurrentAnswers: 3,
    mostPopular: false,
  },
  enterprise: {
    key: "enterprise",
    name: "Enterprise",
    monthlyPriceCents: 9999,
    monthlyCredits: 1250,
    requestsPerMinute: 100,
    concurrentAnswers: 10,
    mostPopular: false,
  },
};

export const planList: readonly Plan[] = planKeys.map((key) => plans[key]);

export const currency = "usd";

/** Spec §2: the annual toggle saves 20 %. */
export const annualSavingPercent = 20;

/** 12 months less 20 %, rounded down to the cent (decisions.md, "Prices"). */
export function annualPriceCents(plan: Plan): number {
  return Math.floor((12 * plan.monthlyPriceCents * (100 - annualSavingPercent)) / 100);
}

export function priceCents(plan: Plan, interval: BillingInterval): number {
  return interval === "year" ? annualPriceCents(plan) : plan.monthlyPriceCents;
}

/** Stripe lookup keys double as our own `priceId` (spec §3): stable, readable, the same in sandbox and production. */
export type PriceId = `${PlanKey}_${BillingInterval}`;

export function priceIdOf(plan: PlanKey, interval: BillingInterval): PriceId {
  return `${plan}_${interval}`;
}

/** Undefined for anything that is not a price of a plan. */
export function parsePriceId(priceId: string): { plan: Plan; interval: BillingInterval } | undefined {
  const [key, interval, rest] = priceId.split("_");
  const plan = planList.find((candidate) => candidate.key === key);
  const known = billingIntervals.find((candidate) => candidate === interval);
  return plan && known && rest === undefined ? { plan, interval: known } : undefined;
}

/** Extra credits, sold to subscribers only (decisions.md, "Credit packs"). */
export const packs = [
  { key: "pack_100", credits: 100, priceCents: 799 },
  { key: "pack_250", credits: 250, priceCents: 1799 },
  { key: "pack_500", credits: 500, priceCents: 3299 },
  { key: "pack_1000", credits: 1000, priceCents: 5999 },
] as const;

/** Months after purchase at whose end the credits of a pack expire (decisions.md, "When credits expire"). */
export const packMonths = 12;

/** decisions.md, "Money-back". */
export const moneyBackDays = 14;

/** decisions.md, "Money-back": no refund once more than this share of the credits granted so far is spent. */
export const moneyBackUsedPercent = 20;

/** decisions.md, "Payment failure": access stays this long while a renewal is unpaid. */
export const graceDays = 7;

/** decisions.md, "Renewal while the invoice is still a draft": the old month's credits live this long past its end. */
export const renewalOverlapHours = 24;

/** decisions.md, "Trial": days it lasts and credits it brings, without a card and for small text models only. */
export const trialDays = 7;
export const trialCredits = 50;
