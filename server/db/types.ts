/** Table types for Kysely, by area; the migrations define the tables. bigint columns arrive as numbers (credits stay far below 2^53). */
import type {
  AuthAttempts,
  AuthSessions,
  Avatars,
  BillingAccountMembers,
  BillingAccounts,
  Credentials,
  EmailLinks,
  FactorResets,
  FormerCustomers,
  GoogleAnswers,
  Identities,
  PasskeyChallenges,
  Passkeys,
  PendingSignIns,
  SignUps,
  Users,
} from "./types-accounts.ts";
import type {
  ClipJobs,
  Conversations,
  GenerationEvents,
  GenerationKeys,
  GenerationParts,
  Generations,
  Messages,
  RefusedSends,
  SpendingLimits,
} from "./types-answers.ts";
import type { AuditEvents, AuditOrigins, AuditPeople, AuditReasons } from "./types-audit.ts";
import type {
  BankTransfers,
  ChargeReturns,
  Checkouts,
  DiscountCampaigns,
  Invoices,
  MoneyBacks,
  Orders,
  PaidInvoiceLines,
  PaidInvoices,
  ScheduledGrants,
  StripeEvents,
  StripeObjects,
  SubscriptionChanges,
  TransferOffers,
  TrialMailboxes,
  Trials,
  UserSubscriptions,
} from "./types-billing.ts";
import type {
  CreditExpiries,
  DailyAnswers,
  DailyCredits,
  DailyDepartures,
  DailyFirstTexts,
  DailyPeople,
  DailySubscriptions,
  FigureMarks,
  WaitingAnswers,
} from "./types-figures.ts";
import type { FileSpace, Files, FileTexts } from "./types-files.ts";
import type {
  Grants,
  HoldParts,
  Holds,
  LedgerChecks,
  LedgerEntries,
  LedgerKeys,
  LedgerTransactions,
  ModelAccounts,
  UsageDays,
  Wallets,
} from "./types-ledger.ts";
import type { DataExports } from "./types-own-data.ts";
import type { SupportAccesses } from "./types-support-access.ts";
import type {
  BusinessClock,
  ContactEvents,
  ContactMessages,
  DeadLetters,
  Findings,
  FullChecks,
  Mails,
  ModelPrices,
  ModelSwitchRows,
  Outbox,
  PaymentChecks,
  PutOffNeeds,
  SavedViews,
  Schedules,
  SettingRows,
  SweepFailures,
} from "./types-work.ts";

export interface Database {
  users: Users;
  support_access: SupportAccesses;
  put_off_needs: PutOffNeeds;
  identities: Identities;
  credentials: Credentials;
  avatars: Avatars;
  google_answers: GoogleAnswers;
  sign_ups: SignUps;
  billing_accounts: BillingAccounts;
  billing_account_members: BillingAccountMembers;
  former_customers: FormerCustomers;
  pending_sign_ins: PendingSignIns;
  passkeys: Passkeys;
  passkey_challenges: PasskeyChallenges;
  factor_resets: FactorResets;
  auth_sessions: AuthSessions;
  email_links: EmailLinks;
  auth_attempts: AuthAttempts;
  audit_people: AuditPeople;
  audit_events: AuditEvents;
  audit_origins: AuditOrigins;
  audit_reasons: AuditReasons;
  wallets: Wallets;
  grants: Grants;
  ledger_keys: LedgerKeys;
  ledger_transactions: LedgerTransactions;
  ledger_entries: LedgerEntries;
  holds: Holds;
  hold_parts: HoldParts;
  stripe_events: StripeEvents;
  stripe_objects: StripeObjects;
  user_subscriptions: UserSubscriptions;
  bank_transfers: BankTransfers;
  transfer_offers: TransferOffers;
  trials: Trials;
  trial_mailboxes: TrialMailboxes;
  subscription_changes: SubscriptionChanges;
  invoices: Invoices;
  charge_returns: ChargeReturns;
  money_backs: MoneyBacks;
  paid_invoices: PaidInvoices;
  paid_invoice_lines: PaidInvoiceLines;
  scheduled_grants: ScheduledGrants;
  checkouts: Checkouts;
  orders: Orders;
  discount_campaigns: DiscountCampaigns;
  conversations: Conversations;
  generations: Generations;
  generation_keys: GenerationKeys;
  messages: Messages;
  generation_events: GenerationEvents;
  generation_parts: GenerationParts;
  refused_sends: RefusedSends;
  spending_limits: SpendingLimits;
  usage_days: UsageDays;
  model_accounts: ModelAccounts;
  clip_jobs: ClipJobs;
  files: Files;
  file_space: FileSpace;
  file_texts: FileTexts;
  ledger_checks: LedgerChecks;
  findings: Findings;
  full_checks: FullChecks;
  payment_checks: PaymentChecks;
  outbox: Outbox;
  dead_letters: DeadLetters;
  schedules: Schedules;
  model_prices: ModelPrices;
  model_switches: ModelSwitchRows;
  settings: SettingRows;
  saved_views: SavedViews;
  sweep_failures: SweepFailures;
  mails: Mails;
  contact_messages: ContactMessages;
  contact_events: ContactEvents;
  data_exports: DataExports;
  business_clock: BusinessClock;
  figure_marks: FigureMarks;
  waiting_answers: WaitingAnswers;
  daily_credits: DailyCredits;
  credit_expiries: CreditExpiries;
  daily_answers: DailyAnswers;
  daily_first_texts: DailyFirstTexts;
  daily_subscriptions: DailySubscriptions;
  daily_people: DailyPeople;
  daily_departures: DailyDepartures;
}
