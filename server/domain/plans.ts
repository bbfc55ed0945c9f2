/**
 * The only catalogue of what is sold: plan cards, checkout, grants, the summary, support answers and translations take their
 * figures from here. Money is in integer US cents, credits are integers. The README lists the decisions behind the figures
 * that the specification leaves open.
 */
export const planKeys = ["starter", "basic", "professional", "enterprise"] as const;
export type PlanKey = (typeof planKeys)[number];

/** A year is paid at once, and its credits come month by month. */
export const monthsOfYear = 12;

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
  /** Room for files, of 10⁹ bytes. */
  fileGigabytes: number;
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
    fileGigabytes: 1,
    mostPopular: false,
  },
  basic: {
    key: "basic",
    name: "Basic",
    monthlyPriceCents: 3999,
    monthlyCredits: 600,
    requestsPerMinute: 20,
    concurrentAnswers: 2,
    fileGigabytes: 3,
    mostPopular: true,
  },
  professional: {
    key: "professional",
    name: "Professional",
    monthlyPriceCents: 4999,
    monthlyCredits: 750,
    requestsPerMinute: 40,
    concurrentAnswers: 3,
    fileGigabytes: 5,
    mostPopular: false,
  },
  enterprise: {
    key: "enterprise",
    name: "Enterprise",
    monthlyPriceCents: 9999,
    monthlyCredits: 1250,
    requestsPerMinute: 100,
    concurrentAnswers: 10,
    fileGigabytes: 20,
    mostPopular: false,
  },
};

export const planList: readonly Plan[] = planKeys.map((key) => plans[key]);

export const currency = "usd";

/** Spec §2: the annual toggle saves 20 %. */
export const annualSavingPercent = 20;

/** 12 months less 20 %, rounded down to the cent. */
export function annualPriceCents(plan: Plan): number {
  return Math.floor((12 * plan.monthlyPriceCents * (100 - annualSavingPercent)) / 100);
}

export function priceCents(plan: Plan, interval: BillingInterval): number {
  return interval === "year" ? annualPriceCents(plan) : plan.monthlyPriceCents;
}

/** Our `priceId` (spec §3), which is also the price's lookup key at Stripe: the same in the sandbox and in production. */
export type PriceId = `${PlanKey}_${BillingInterval}`;

export function priceIdOf(plan: PlanKey, interval: BillingInterval): PriceId {
  return `${plan}_${interval}`;
}

/** Undefined if the id is not a plan's price. */
export function parsePriceId(priceId: string): { plan: Plan; interval: BillingInterval } | undefined {
  const [key, interval, rest] = priceId.split("_");
  const plan = planList.find((candidate) => candidate.key === key);
  const known = billingIntervals.find((candidate) => candidate === interval);
  return plan && known && rest === undefined ? { plan, interval: known } : undefined;
}

/** Extra credits, sold to subscribers only. The key is also the price's lookup key at Stripe. */
export const packs = [
  { key: "pack_100", credits: 100, priceCents: 799 },
  { key: "pack_250", credits: 250, priceCents: 1799 },
  { key: "pack_500", credits: 500, priceCents: 3299 },
  { key: "pack_1000", credits: 1000, priceCents: 5999 },
] as const;
export type Pack = (typeof packs)[number];
export type PackKey = Pack["key"];

/** Undefined if nothing of that name is sold. */
export function packOf(key: string): Pack | undefined {
  return packs.find((pack) => pack.key === key);
}

/** The credits of a pack expire this many months after the purchase. */
export const packMonths = 12;

/** Days after the first payment within which a person may take the money back. */
export const moneyBackDays = 14;

/** A consumer may withdraw from a contract until the end of this day after its conclusion (Directive 2011/83/EU, article 9). */
export const withdrawalDays = 14;

/** No refund if more than this share of the credits granted so far is spent. */
export const moneyBackUsedPercent = 20;

/** Access continues for this long while a renewal is unpaid. */
export const graceDays = 7;

/**
 * A yearly renewal is announced this many days ahead. California asks for 15 to 45 days, France for one to three months: this is within both.
 */
export const renewalNoticeDays = 35;

/** The old month's credits stay valid for this long after its end, because a renewal's invoice is a draft for an hour. */
export const renewalOverlapHours = 24;

/** The trial needs no card; its credits pay for small text models only. */
export const trialDays = 7;
export const trialCredits = 50;
/** Room for files, of 10⁶ bytes, for somebody without a plan: on the trial, or after their plan has ended. */
export const trialFileMegabytes = 100;
/** A mail reminds the person this many days before the end. */
export const trialReminderDays = 2;

/** The credits of a month of that plan, or of the trial for people without a plan. */
export function monthlyCreditsOf(tier: PlanKey | "none"): number {
  return tier === "none" ? trialCredits : plans[tier].monthlyCredits;
}
