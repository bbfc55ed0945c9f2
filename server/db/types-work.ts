import type { Generated, GeneratedAlways } from "kysely";
import type { ContactCategory } from "#domain/contact.ts";
import type { FindingDetails, FindingKind, ResolvedBy } from "#domain/findings.ts";
import type { InboxStatus } from "#domain/inbox.ts";
import type { NeedKind } from "#domain/needs.ts";
import type { OffTexts } from "../model-switches.ts";
import type { Json } from "./json.ts";

export interface Outbox {
  id: Generated<string>;
  job: string;
  payload: Json<unknown>;
  created_at: Generated<Date>;
  published_at: Date | null;
  redrive_at: Generated<Date>;
  publications: Generated<number>;
  failures: Generated<number>;
  once: Generated<string | null>;
}

export interface DeadLetters {
  id: string;
  job: string;
  payload: Json<unknown>;
  error: string;
  attempts: number;
  failed_at: Generated<Date>;
  /** When it was put back, or discarded. */
  replayed_at: Date | null;
  discarded: Generated<boolean>;
  /** A trigger takes it from the payload. Null for other jobs, and where the payload is damaged. */
  mail_id: Generated<string | null>;
}

export interface Schedules {
  name: string;
  due_at: Date;
  leased_until: Date | null;
  last_run_at: Date | null;
  last_error: string | null;
}

export interface ModelSwitchRows {
  model_id: string;
  is_off: boolean;
  texts: Json<OffTexts>;
  version: number;
  changed_at: Date;
}

/** A list of the panel as a member of the team saved it. */
export interface SavedViews {
  id: Generated<string>;
  user_id: string;
  list: string;
  name: string;
  /** The query of the list's address. */
  search: string;
  created_at: Date;
}

/** What waits for the team and was put off until a day. */
export interface PutOffNeeds {
  kind: NeedKind;
  entry: string;
  user_id: string | null;
  until: Date;
  put_off_by: string | null;
  reason: string;
  created_at: Date;
}

/** What admins have changed while the product ran. */
export interface SettingRows {
  name: string;
  value: Json<unknown> | null;
  version: number;
  changed_at: Date;
  changed_by: string | null;
  reason: string;
}

export interface ModelPrices {
  model_id: string;
  /** A day in UTC. */
  begins_on: string;
  credits: number;
  planned_at: Date;
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
  leased_until: Generated<Date | null>;
}

export interface ContactMessages {
  id: Generated<string>;
  idempotency_key: string;
  content_hash: Buffer;
  user_id: string | null;
  name: string;
  email: string;
  category: ContactCategory;
  subject: string | null;
  message: string;
  language: string;
  created_at: Date;
  status: Generated<InboxStatus>;
  owner_id: Generated<string | null>;
  version: Generated<number>;
}

export interface ContactEvents {
  id: Generated<string>;
  message_id: string;
  actor_id: string | null;
  kind: "answered" | "status" | "owner";
  at: Date;
  status: Generated<InboxStatus | null>;
  owner_id: Generated<string | null>;
  key: Generated<string | null>;
  subject: Generated<string | null>;
  body: Generated<string | null>;
  mail_id: Generated<string | null>;
  /** Why the status was set. */
  reason: Generated<string | null>;
}

export interface SweepFailures {
  sweep: string;
  subject: string;
  /** The subject, if it is an account whose check failed. */
  billing_account_id: GeneratedAlways<string | null>;
  failures: number;
  retry_at: Date;
  error: string;
}

export interface BusinessClock {
  singleton: Generated<boolean>;
  offset_ms: Generated<number>;
}

export interface Findings {
  id: Generated<string>;
  kind: FindingKind;
  subject: string;
  /** The subject, if it is such a row. */
  money_back_id: GeneratedAlways<string | null>;
  hold_id: GeneratedAlways<string | null>;
  billing_account_id: string | null;
  details: Json<FindingDetails>;
  first_seen_at: Date;
  last_seen_at: Date;
  times_seen: Generated<number>;
  resolved_at: Date | null;
  resolved_by: ResolvedBy | null;
}

export interface PaymentChecks {
  billing_account_id: string;
  leased_until: Date | null;
  window_began_at: Generated<Date>;
  checks: Generated<number>;
  finished_at: Date | null;
  result: Json<unknown> | null;
}

export interface FullChecks {
  singleton: Generated<boolean>;
  asked_at: Date | null;
  done_at: Date | null;
  reached: Generated<string>;
  accounts: Generated<number>;
  /** The last account of the hourly round, and when its last slice began, by PostgreSQL's clock. */
  round_reached: Generated<string>;
  sliced_at: Date | null;
}
