/**
 * How long the rows of every table are kept, and why (docs/decisions/0014). The worker deletes expired rows
 * (server/features/retention/) with PostgreSQL functions that contain the same periods (migrations). The privacy page shows
 * the periods (periods.ts).
 */
import type { Sweep } from "./kept-periods.ts";

/** Each sweep: the PostgreSQL function that deletes, and the moment from which `keptMs` is counted. */
export const sweeps = {
  signUps: { sql: "retention_sign_ups", since: "it was begun" },
  pendingSignIns: { sql: "retention_pending_sign_ins", since: "it expired" },
  passkeyChallenges: { sql: "retention_passkey_challenges", since: "it expired" },
  factorResets: { sql: "retention_factor_resets", since: "it ended" },
  links: { sql: "retention_links", since: "it was opened or expired" },
  sessions: { sql: "retention_sessions", since: "it ended" },
  attempts: { sql: "retention_attempts", since: "the first attempt it counts" },
  answerLogs: { sql: "retention_answer_logs", since: "the answer's end" },
  answerKeys: { sql: "retention_answer_keys", since: "the send" },
  deadLetters: { sql: "retention_dead_letters", since: "it was put back or, where nobody did that, failed" },
  mailBodies: { sql: "retention_mail_bodies", since: "it was written" },
  mails: { sql: "retention_mails", since: "it was written" },
  contactMessages: { sql: "retention_contact_messages", since: "it was received" },
  auditEvents: { sql: "retention_audit_events", since: "the act" },
  exportFiles: { sql: "retention_export_files", since: "the file was made" },
  exports: { sql: "retention_exports", since: "it was asked for" },
  unsentFiles: { sql: "retention_unsent_files", since: "the upload" },
  dictations: { sql: "retention_dictations", since: "it was spoken" },
  unfinishedFiles: { sql: "retention_unfinished_files", since: "it was begun" },
  stripePayloads: { sql: "retention_stripe_payloads", since: "it was received" },
  googleAnswers: { sql: "retention_google_answers", since: "it was received" },
  trialMailboxes: { sql: "retention_trial_mailboxes", since: "the trial began" },
  findings: { sql: "retention_findings", since: "it was resolved" },
  paymentChecks: { sql: "retention_payment_checks", since: "the first of the account's checks within an hour" },
  abandonedOrders: { sql: "retention_abandoned_orders", since: "it was made" },
  unpaidOrders: { sql: "retention_unpaid_orders", since: "it was made" },
  supportAccess: { sql: "retention_support_access", since: "the team asked for it, or its end, whichever came last" },
  putOffNeeds: { sql: "retention_put_off_needs", since: "the day on which it came back" },
} as const satisfies Record<Sweep, { sql: string; since: string }>;

interface Earlier {
  what: string;
  sweep: Sweep;
}

interface Bound {
  /** How long a row is kept: until a sweep deletes it, as long as the row of another table that it belongs to, or what the string says. */
  rows: { sweep: Sweep } | { with: string } | "for good" | "until deleted" | "until done" | "one row each";
  /** The parts of the data that a sweep deletes earlier. */
  earlier?: Earlier | readonly Earlier[];
  why: string;
}

const ledger = {
  rows: "for good",
  why: "accounting: every balance can be recomputed from its first entry; of a billing account, which names no deleted person",
} as const;

const figures = {
  rows: "for good",
  why: "figures of the business: sums by day over everybody, in which there are no people",
} as const satisfies Bound;

/** By table. If a table is missing here a test fails, and the application's role gets no rights on the table. */
export const retention = {
  users: { rows: "until deleted", why: "the account; goes 14 days after the person deleted it, with what is theirs (account_erase)" },
  identities: { rows: { with: "users" }, why: "by what a person is known: their e-mail address, their Google account" },
  avatars: { rows: "until deleted", why: "the pictures of accounts; an unused one is deleted with its files within two hours" },
  google_answers: { rows: { sweep: "googleAnswers" }, why: "what Google said about somebody who is signing in; good once, for minutes" },
  credentials: { rows: { with: "users" }, why: "what a person signs in with" },
  billing_accounts: { rows: "for good", why: "accounting: whose the books are; no person and no customer once its members are gone" },
  billing_account_members: { rows: { with: "users" }, why: "who pays for what a person asks" },
  former_customers: {
    rows: "until deleted",
    why: "customers that were deleted at Stripe: a late refund or payment of theirs is booked to the account; they go with its last member",
  },
  sign_ups: { rows: { sweep: "signUps" }, why: "the address can be confirmed; without the address once it was, or was disowned" },
  pending_sign_ins: { rows: { sweep: "pendingSignIns" }, why: "a sign-in waits for its second factor; a late code gets the right answer" },
  passkeys: { rows: { with: "users" }, why: "public keys a person signs in with" },
  passkey_challenges: { rows: { sweep: "passkeyChallenges" }, why: "what a passkey has to sign; each is good for one answer" },
  factor_resets: { rows: { sweep: "factorResets" }, why: "somebody lost their second factor; for a while we can see what became of it" },
  auth_sessions: { rows: { sweep: "sessions" }, why: "for a while we can still see what an ended sign-in was used for" },
  email_links: {
    rows: { sweep: "links" },
    why: "a used link gets another answer than an invalid one; the link that reverses a change of address keeps the earlier address until then",
  },
  auth_attempts: { rows: { sweep: "attempts" }, why: "no limit looks further back" },
  audit_events: { rows: { sweep: "auditEvents" }, why: "what was done to an account can be looked up; people are named by ids of the log" },
  audit_people: { rows: { with: "users" }, why: "which person an id of the log stands for" },
  audit_origins: { rows: { with: "audit_events" }, why: "from which network an act came; deleted earlier with the person" },
  audit_reasons: { rows: { with: "audit_events" }, why: "why somebody of the team did it; deleted earlier with the person it was done to" },
  wallets: ledger,
  grants: ledger,
  ledger_keys: ledger,
  ledger_transactions: ledger,
  ledger_entries: ledger,
  holds: ledger,
  hold_parts: ledger,
  charge_returns: {
    rows: "for good",
    why: "accounting: what was paid back, by which credits went back too; of a billing account, which names no deleted person",
  },
  usage_days: {
    rows: "for good",
    why: "sums of the receipts by day and model, for charts; of a billing account, which names no deleted person",
  },
  model_accounts: {
    rows: "for good",
    why: "which accounts used a model, and on which day last: whom its end and its price concern; names no deleted person",
  },
  money_backs: {
    rows: "for good",
    why: "accounting: which payments were asked back, each once; names no deleted person",
  },
  bank_transfers: {
    rows: "for good",
    why: "accounting: which invoices were paid by bank transfer; of a billing account, which names no deleted person",
  },
  paid_invoices: ledger,
  paid_invoice_lines: ledger,
  invoices: {
    rows: "for good",
    why: "accounting: what each invoice was for and what became of it; of a billing account, which names no deleted person",
  },
  subscription_changes: {
    rows: "for good",
    why: "accounting: who had which plan at which price, and when; of a billing account, which names no deleted person",
  },
  stripe_events: {
    rows: "for good",
    earlier: { what: "payload", sweep: "stripePayloads" },
    why: "a repeated event is recognised however late it comes; its content can be read from Stripe again",
  },
  stripe_objects: { rows: "for good", why: "a late answer of Stripe's does not overwrite a newer one; no personal data" },
  user_subscriptions: { rows: { with: "users" }, why: "what the person pays for" },
  trials: { rows: { with: "users" }, why: "when the person's free trial began and ends; nobody gets a second one" },
  trial_mailboxes: {
    rows: { sweep: "trialMailboxes" },
    why: "a mailbox gets one free trial, also if its account was deleted; only a keyed hash of the address",
  },
  scheduled_grants: { rows: "for good", why: "accounting: the monthly grants of annual plans, past and future" },
  transfer_offers: { rows: { with: "users" }, why: "what the team offered the person to be paid by bank transfer: the last offer" },
  checkouts: { rows: { with: "users" }, why: "a late payment can be matched to what was bought" },
  orders: {
    rows: "for good",
    earlier: [
      { what: "orders that nobody paid", sweep: "abandonedOrders" },
      { what: "orders by bank transfer that nobody paid, whose invoice is void by then", sweep: "unpaidOrders" },
    ],
    why: "proof of what was ordered and agreed to, as long as its invoice; of a billing account, which names no deleted person",
  },
  discount_campaigns: { rows: "for good", why: "they explain past prices; no personal data" },
  conversations: { rows: "until deleted", why: "they belong to the person" },
  messages: { rows: { with: "conversations" }, why: "they belong to the person" },
  generations: {
    rows: "for good",
    why: "receipts, without text: part of accounting; what a filter stopped goes with the answer; unlinked from the person when the account is deleted",
  },
  generation_keys: {
    rows: { sweep: "answerKeys" },
    why: "a send that is repeated gets the same answer; no browser, job or dead letter repeats one after that long",
  },
  generation_events: {
    rows: { sweep: "answerLogs" },
    why: "a reader whose connection broke can resume; dropped in partitions of twelve hours (decision 23), and at once with the conversation",
  },
  generation_parts: {
    rows: "until deleted",
    earlier: { what: "transcripts of what was spoken into the composer", sweep: "dictations" },
    why: "what the answers said; deleted at once with the conversation or, without one, with the account",
  },
  clip_jobs: { rows: "until done", why: "a clip that waits or is being made; deleted when its answer ends, after an hour at the latest" },
  files: {
    rows: "until deleted",
    earlier: { what: "attachments that were never sent", sweep: "unsentFiles" },
    why: "they belong to the person; an attachment goes with its conversation, what a model made with its answer; the bytes go minutes later",
  },
  file_texts: { rows: { with: "files" }, why: "the text of a document, which models read" },
  file_space: { rows: { with: "users" }, why: "how much a person's files take" },
  refused_sends: { rows: { with: "users" }, why: "refused sends of the last minute count towards the person's rate" },
  spending_limits: { rows: { with: "users" }, why: "the limits a person set for their own spending, and what they spent on the last day" },
  outbox: { rows: "until done", why: "jobs to be done; a row is deleted when its job is done" },
  dead_letters: { rows: { sweep: "deadLetters" }, why: "failed jobs can be replayed, and looked up after it" },
  sweep_failures: {
    rows: "until done",
    why: "a row waits for its next try; deleted once it succeeds, or a day after its retry if it was not due any more",
  },
  model_prices: { rows: "for good", why: "what models cost since when; names no person" },
  model_switches: { rows: "one row each", why: "which models the team has switched off; names no person" },
  schedules: { rows: "one row each", why: "when each sweep runs next" },
  settings: { rows: "one row each", why: "what admins have changed while the product ran; names nobody who has left" },
  saved_views: {
    rows: { with: "users" },
    why: "the lists of the panel as a member of the team saved them; deleted earlier with their role",
  },
  findings: { rows: { sweep: "findings" }, why: "what the checks of payments and books found, and who repaired it; names no person" },
  payment_checks: { rows: { sweep: "paymentChecks" }, why: "how often an account's payments were checked, and what the last check found" },
  full_checks: { rows: "one row each", why: "how far the check of every account has come" },
  ledger_checks: { rows: "one row each", why: "how far the check of the books has come" },
  mails: {
    rows: { sweep: "mails" },
    earlier: { what: "parameters", sweep: "mailBodies" },
    why: "which mails were sent; their contents are deleted earlier",
  },
  contact_messages: { rows: { sweep: "contactMessages" }, why: "what people asked, and what became of it" },
  contact_events: { rows: { with: "contact_messages" }, why: "what the team did with a message, and answered" },
  support_access: {
    rows: { sweep: "supportAccess" },
    why: "until when the person lets the team read their conversations, and when the team asked",
  },
  put_off_needs: { rows: { sweep: "putOffNeeds" }, why: "what the team put off, who did and why, until it comes back" },
  data_exports: {
    rows: { sweep: "exports" },
    earlier: { what: "file_name", sweep: "exportFiles" },
    why: "the file can be downloaded for a day; that there was one counts towards the number a day",
  },
  figure_marks: { rows: "one row each", why: "how far the figures of the business were added up" },
  waiting_answers: { rows: "until done", why: "answers that still run are added to the figures when they have ended" },
  daily_credits: figures,
  credit_expiries: figures,
  daily_answers: figures,
  daily_first_texts: figures,
  daily_subscriptions: figures,
  daily_people: figures,
  daily_departures: figures,
  business_clock: { rows: "one row each", why: "the sandbox's time" },
  migrations: { rows: "for good", why: "which migrations the schema has" },
  migrations_lock: { rows: "one row each", why: "one migration at a time" },
} as const satisfies Record<string, Bound>;

/** BullMQ's tables, if it runs on PostgreSQL: it deletes a job after the run, and all but the latest events of its log. */
export const queueRetention = {
  rows: "until done",
  why: "the outbox holds the jobs; BullMQ only dispatches them",
} as const satisfies Bound;

export type KeptTable = keyof typeof retention;
