import type { Generated } from "kysely";
import type { ContactCategory } from "#domain/contact.ts";
import type { FindingDetails, FindingKind, ResolvedBy } from "#domain/findings.ts";
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
}

export interface SweepFailures {
  sweep: string;
  subject: string;
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
}
