/** Table types for Kysely; the migrations are the truth. bigint columns arrive as numbers (credits stay far below 2^53). */
import type { ColumnType, Generated, Selectable } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import type { BillingInterval } from "#domain/plans.ts";
import type { SubscriptionStatus } from "#domain/subscription.ts";

type Json<T> = ColumnType<T, string, string>;

export interface Users {
  id: Generated<string>;
  email: string;
  mailbox_key: string;
  email_verified_at: Date | null;
  password_hash: string | null;
  role: Generated<"user" | "admin">;
  language: Generated<string>;
  avatar_url: string | null;
  banned_at: Date | null;
  stripe_customer_id: string | null;
  created_at: Date;
  last_sign_in_at: Date | null;
}

export interface AuthSessions {
  id: Generated<string>;
  user_id: string;
  counter: Generated<number>;
  token_hash: Buffer;
  previous_token_hash: Buffer | null;
  rotated_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  created_at: Date;
  user_agent: string | null;
}

export interface EmailLinks {
  id: Generated<string>;
  user_id: string;
  purpose: "confirm" | "recover";
  token_hash: Buffer;
  password_hash: string | null;
  expires_at: Date;
  used_at: Date | null;
  created_at: Date;
}

export interface AuthAttempts {
  key: string;
  failures: number;
  window_started_at: Date;
  blocked_until: Date | null;
}

export interface Wallets {
  id: Generated<string>;
  user_id: string | null;
  balance: Generated<number>;
  held: Generated<number>;
  frozen_at: Date | null;
  created_at: Date;
}

export interface Grants {
  id: Generated<string>;
  wallet_id: string;
  kind: GrantKind;
  credits: number;
  remaining: number;
  held: Generated<number>;
  clawed_back: Generated<number>;
  expires_at: Date;
  expired_at: Date | null;
  source_key: string;
  created_at: Date;
}

export type LedgerKind = "grant" | "capture" | "expire" | "clawback" | "repay" | "restore";

export interface LedgerTransactions {
  id: Generated<string>;
  key: string;
  kind: LedgerKind;
  wallet_id: string;
  content: Json<Record<string, unknown>>;
  occurred_at: Date;
  recorded_at: Generated<Date>;
}

export interface LedgerEntries {
  transaction_id: string;
  line: number;
  account: "wallet" | "issued" | "spent" | "expired" | "clawed_back";
  wallet_id: string;
  grant_id: string;
  amount: number;
}

export interface Holds {
  id: string;
  wallet_id: string;
  amount: number;
  state: Generated<"open" | "captured" | "released">;
  captured: Generated<number>;
  deadline: Date;
  created_at: Date;
  ended_at: Date | null;
}

export interface HoldParts {
  hold_id: string;
  grant_id: string;
  amount: number;
}

export interface StripeEvents {
  id: string;
  type: string;
  livemode: boolean;
  object_id: string | null;
  payload: Json<unknown>;
  received_at: Generated<Date>;
  status: Generated<"received" | "processed" | "ignored" | "set_aside">;
  processed_at: Date | null;
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
}

export interface PaidInvoices {
  id: string;
  user_id: string | null;
  stripe_subscription_id: string | null;
  stripe_customer_id: string;
  amount_paid_cents: number;
  billing_reason: string | null;
  paid_at: Date;
  recorded_at: Date;
}

export interface ScheduledGrants {
  key: string;
  user_id: string;
  credits: number;
  due_at: Date;
  expires_at: Date;
  posted_at: Date | null;
  cancelled_at: Date | null;
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

export interface DiscountCampaigns {
  id: Generated<string>;
  percent: number;
  starts_at: Date;
  ends_at: Date;
  created_at: Date;
}

export interface Conversations {
  id: Generated<string>;
  user_id: string;
  title: string;
  created_at: Date;
  updated_at: Date;
}

export interface Generations {
  id: string;
  user_id: string | null;
  conversation_id: string | null;
  model_id: string;
  idempotency_key: string;
  request_hash: Buffer;
  status: Generated<"streaming" | "completed" | "stopped" | "failed">;
  failure_code: string | null;
  quoted_credits: number;
  charged_credits: number | null;
  available_after: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  trimmed_messages: Generated<number>;
  lease_owner: string;
  lease_expires_at: Date;
  stop_requested_at: Date | null;
  created_at: Date;
  ended_at: Date | null;
}

export interface Messages {
  id: Generated<string>;
  conversation_id: string;
  generation_id: string;
  role: "user" | "assistant";
  content: string;
  created_at: Date;
}

export interface GenerationEvents {
  generation_id: string;
  first_event: number;
  last_event: number;
  frames: string;
}

export interface Outbox {
  id: Generated<string>;
  job: string;
  payload: Json<unknown>;
  created_at: Generated<Date>;
  published_at: Date | null;
  redrive_at: Generated<Date>;
  publications: Generated<number>;
  failures: Generated<number>;
}

export interface DeadLetters {
  id: string;
  job: string;
  payload: Json<unknown>;
  error: string;
  attempts: number;
  failed_at: Generated<Date>;
  replayed_at: Date | null;
}

export interface Schedules {
  name: string;
  due_at: Date;
  leased_until: Date | null;
  last_run_at: Date | null;
  last_error: string | null;
}

export interface Mails {
  id: Generated<string>;
  key: string;
  user_id: string | null;
  recipient: string;
  template: string;
  language: string;
  parameters: Json<Record<string, string | number>>;
  created_at: Date;
  sent_at: Date | null;
}

export interface BusinessClock {
  singleton: Generated<boolean>;
  offset_ms: Generated<number>;
}

export interface Database {
  users: Users;
  auth_sessions: AuthSessions;
  email_links: EmailLinks;
  auth_attempts: AuthAttempts;
  wallets: Wallets;
  grants: Grants;
  ledger_transactions: LedgerTransactions;
  ledger_entries: LedgerEntries;
  holds: Holds;
  hold_parts: HoldParts;
  stripe_events: StripeEvents;
  user_subscriptions: UserSubscriptions;
  paid_invoices: PaidInvoices;
  scheduled_grants: ScheduledGrants;
  checkouts: Checkouts;
  discount_campaigns: DiscountCampaigns;
  conversations: Conversations;
  generations: Generations;
  messages: Messages;
  generation_events: GenerationEvents;
  outbox: Outbox;
  dead_letters: DeadLetters;
  schedules: Schedules;
  mails: Mails;
  business_clock: BusinessClock;
}

export type UserRow = Selectable<Users>;
export type SubscriptionRow = Selectable<UserSubscriptions>;
export type GenerationRow = Selectable<Generations>;
