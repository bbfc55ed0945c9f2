import type { ColumnType, Generated, Selectable } from "kysely";
import type { CampaignAudience } from "#domain/campaigns.ts";
import type { BillingInterval, PlanKey } from "#domain/plans.ts";
import type { SubscriptionStatus } from "#domain/subscription.ts";
import type { Json } from "./json.ts";

export interface StripeEvents {
  id: string;
  type: string;
  livemode: boolean;
  object_id: string | null;
  created_at: Date | null;
  payload: Json<unknown>;
  received_at: Generated<Date>;
  status: Generated<"received" | "processed" | "ignored" | "set_aside" | "discarded">;
  processed_at: Date | null;
  taken_by: Generated<string | null>;
  taken_until: Generated<Date | null>;
}

export interface StripeObjects {
  id: string;
  version: number;
  duplicate_of: string | null;
}

export interface UserSubscriptions {
  user_id: string;
  plan_key: string;
  billing_interval: BillingInterval;
  status: SubscriptionStatus;
  stripe_subscription_id: string;
  current_period_start: Date;
  current_period_end: Date;
  cancel_at_period_end: Generated<boolean>;
  grace_until: Date | null;
  started_at: Date;
  ended_at: Date | null;
  updated_at: Date;
  price_cents: Generated<number | null>;
  pending_plan_key: Generated<string | null>;
  pending_interval: Generated<BillingInterval | null>;
  pending_from: Generated<Date | null>;
  renewal_told_for: Generated<Date | null>;
}

export interface Trials {
  user_id: string;
  started_at: Date;
  ends_at: Date;
  /** When the reminder or, after it, the end is due; null once it has ended. */
  due_at: Date | null;
}

export type TrialRow = Selectable<Trials>;

/** The rows that decide what a person may use (features/billing/entitlement.ts); null where they have none. */
export interface Entitling {
  plan_key: string | null;
  status: SubscriptionStatus | null;
  grace_until: Date | null;
  trial_ends_at: Date | null;
  ask_above_credits: number | null;
}

export interface TrialMailboxes {
  mailbox_hash: Buffer;
  started_at: Date;
}

export interface SubscriptionChanges {
  id: Generated<string>;
  billing_account_id: string | null;
  stripe_subscription_id: string;
  plan_key: string;
  billing_interval: BillingInterval;
  price_cents: number | null;
  status: SubscriptionStatus;
  cancel_at_period_end: boolean;
  pending_plan_key: string | null;
  pending_interval: BillingInterval | null;
  pending_from: Date | null;
  current_period_start: Date;
  current_period_end: Date;
  valid_from: Date;
  recorded_at: Date;
}

export type SubscriptionRow = Selectable<UserSubscriptions>;

/** A credit note that Stripe has for an invoice. */
export interface CreditNoteRow {
  id: string;
  number: string;
  amountCents: number;
}

/** What a person sees of an invoice. */
export interface Invoices {
  id: string;
  billing_account_id: string;
  number: string | null;
  stripe_subscription_id: string | null;
  plan_key: string | null;
  billing_interval: BillingInterval | null;
  pack_key: string | null;
  period_start: Date | null;
  period_end: Date | null;
  total_cents: number;
  unpaid_cents: number;
  refunded_cents: number;
  status: "open" | "paid" | "void" | "uncollectible";
  failed: boolean;
  needs_action: boolean;
  /** A bank's debit for it is on its way. */
  processing: Generated<boolean>;
  issued_at: Date;
  updated_at: Date;
  /** By when it is to be paid by bank transfer; null: a card is charged. */
  due_at: Date | null;
  credit_notes: ColumnType<CreditNoteRow[], string | undefined, string>;
  /** How much of `total_cents` is tax; null: Stripe calculated none. */
  tax_cents: number | null;
  /** The rate of value added tax, where the whole invoice has one. */
  tax_percent: number | null;
  /** Stripe did not know where the customer lives, and went on without tax. */
  tax_location_missing: Generated<boolean>;
}

export type InvoiceRow = Selectable<Invoices>;

export interface ChargeReturns {
  charge_id: string;
  billing_account_id: string;
  paid_cents: number;
  refunded_cents: number;
  lost_cents: number;
  disputed: boolean;
  evidence_due_at: Generated<Date | null>;
  version: number;
  recorded_at: Date;
}

export type ChargeReturnRow = Selectable<ChargeReturns>;

/** By the money-back guarantee, by withdrawing from a contract, or because a transfer came that its invoice did not need any more. */
export type MoneyBackKind = "guarantee" | "withdrawal" | "surplus" | "late";

export interface MoneyBacks {
  id: Generated<string>;
  kind: Generated<MoneyBackKind>;
  billing_account_id: string;
  invoice_id: string;
  /** Null: a bank transfer paid it. */
  charge_id: string | null;
  transfer_reference: Generated<string | null>;
  stripe_subscription_id: string | null;
  amount_cents: number;
  asked_at: Date;
  done_at: Date | null;
  returned_reference: Generated<string | null>;
  return_reason: Generated<string | null>;
  /** The bank took the transfer back after its money was transferred back: since then the second sum is owed to us. */
  claimed_at: Generated<Date | null>;
  reclaimed_at: Generated<Date | null>;
  /** Null: given up. */
  reclaimed_reference: Generated<string | null>;
  reclaim_reason: Generated<string | null>;
}

export interface BankTransfers {
  reference: string;
  billing_account_id: string;
  invoice_id: string;
  stripe_subscription_id: string;
  amount_cents: number;
  currency: string;
  reason: string;
  recorded_at: Date;
  reversed_at: ColumnType<Date | null, never, Date | null>;
  reversal_reason: ColumnType<string | null, never, string | null>;
  agreed_elsewhere: string | null;
}

/** What the team offers a person to be paid by bank transfer. */
export interface TransferOffers {
  user_id: string;
  price_id: string;
  days_until_due: number;
  offered_at: Date;
  expires_at: Date;
  order_id: string | null;
}

export interface PaidInvoices {
  id: string;
  billing_account_id: string | null;
  stripe_subscription_id: string | null;
  stripe_customer_id: string;
  amount_paid_cents: number;
  billing_reason: string | null;
  paid_at: Date;
  recorded_at: Date;
}

export interface PaidInvoiceLines {
  invoice_id: string;
  id: string;
  stripe_price_id: string | null;
  plan_key: string | null;
  billing_interval: BillingInterval | null;
  proration: boolean;
  amount_cents: number;
  period_start: Date;
  period_end: Date;
}

export interface ScheduledGrants {
  key: string;
  billing_account_id: string;
  credits: number;
  due_at: Date;
  expires_at: Date;
  posted_at: Date | null;
  cancelled_at: Date | null;
  invoice_id: Generated<string | null>;
  invoice_line_id: Generated<string | null>;
  charge_id: Generated<string | null>;
  /** Which month of the year that the invoice's line is for: 1 to 11, since the first month is posted at once. */
  invoice_month: Generated<number | null>;
}

export interface Checkouts {
  id: Generated<string>;
  user_id: string;
  price_id: string;
  stripe_session_id: string | null;
  url: string | null;
  status: Generated<"open" | "completed" | "expired">;
  expires_at: Date;
  created_at: Date;
}

export interface Orders {
  id: string;
  billing_account_id: string;
  price_id: string;
  amount_cents: number;
  later_cents: number | null;
  currency: string;
  credits: number;
  language: string;
  terms: string;
  withdrawal: string;
  consented_at: Date;
  /** The checkout session that was completed. Until the next release also the subscription of an order by transfer. */
  stripe_session_id: Generated<string | null>;
  /** The subscription that an order by transfer led to. */
  stripe_subscription_id: Generated<string | null>;
  contract_id: Generated<string | null>;
  concluded_at: Generated<Date | null>;
}

export type OrderRow = Selectable<Orders>;

export interface DiscountCampaigns {
  id: Generated<string>;
  percent: number;
  starts_at: Date;
  ends_at: Date;
  created_at: Date;
  audience: Generated<CampaignAudience>;
  /** For the audience `left`: their plan must have ended at least this many days ago. */
  ended_days: number | null;
  /** Null: for every plan. */
  plan_keys: PlanKey[] | null;
}
