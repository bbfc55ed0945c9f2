/** The sums behind the admin overview's figures, by day in UTC, computed from the raw rows (server/features/figures/). */
import type { GrantKind } from "#domain/credits.ts";
import type { BillingInterval } from "#domain/plans.ts";

export type FigureSource = "ledger" | "subscriptions" | "answers" | "people";

export interface FigureMarks {
  source: FigureSource;
  reached: string;
  complete_until: Date | null;
}

export interface WaitingAnswers {
  generation_id: string;
}

export interface DailyCredits {
  day: string;
  grant_kind: GrantKind;
  issued: number;
  spent: number;
  expired: number;
  clawed_back: number;
  outstanding: number;
}

export interface CreditExpiries {
  expires_on: string;
  grant_kind: GrantKind;
  outstanding: number;
}

export interface DailyAnswers {
  day: string;
  model_id: string;
  completed: number;
  stopped: number;
  failed: number;
  credits: number;
  sold_credits: number;
  cost_micro_dollars: number;
  uncosted: number;
}

/** How many answers had their first text within 1.1 to the power of `bucket` milliseconds. Those without text are left out. */
export interface DailyFirstTexts {
  day: string;
  model_id: string;
  bucket: number;
  answers: number;
}

/** Amounts are in twelfths of a cent a month. */
export interface DailySubscriptions {
  day: string;
  plan_key: string;
  billing_interval: BillingInterval;
  running: number;
  mrr: number;
  started: number;
  ended: number;
  new: number;
  expansion: number;
  contraction: number;
  churn: number;
}

export interface DailyPeople {
  day: string;
  joined: number;
  trials: number;
  converted: number;
}

export interface DailyDepartures {
  day: string;
  people: number;
}
