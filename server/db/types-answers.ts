import type { Generated, GeneratedAlways, Selectable } from "kysely";
import type { Reading } from "#domain/attachments.ts";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { Json } from "./json.ts";

export interface Conversations {
  id: Generated<string>;
  user_id: string;
  title: string;
  pinned: Generated<boolean>;
  head_id: Generated<string | null>;
  created_at: Date;
  updated_at: Date;
}

export interface Generations {
  id: string;
  user_id: string | null;
  payer_id: string;
  model_id: string;
  idempotency_key: string;
  request_hash: Buffer;
  status: Generated<"streaming" | "completed" | "stopped" | "failed">;
  failure_code: string | null;
  /** With the failure `content_filtered`, until the answer is erased. */
  filter_reason: Generated<FilterReason | null>;
  cut_short: Generated<boolean>;
  hold_id: string;
  quoted_credits: number;
  price_version: Generated<string | null>;
  charged_credits: number | null;
  available_after: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  thinking_tokens: Generated<number | null>;
  searches: Generated<number | null>;
  cost_micro_dollars: Generated<number | null>;
  /** The time from the request to its first text. */
  first_text_ms: Generated<number | null>;
  capture_id: Generated<string | null>;
  trimmed_messages: Generated<number>;
  /** What was asked for beside words (features/generations/answer-options.ts). */
  options: Json<object> | null;
  /** The answer that is read aloud; written by a trigger. */
  reads_id: GeneratedAlways<string | null>;
  lease_owner: string;
  lease_expires_at: Date;
  stop_requested_at: Date | null;
  created_at: Date;
  asked_at: Generated<Date>;
  ended_at: Date | null;
  erased_at: Generated<Date | null>;
}

/** The answer that a person's idempotency key began, for as long as we keep the key. */
export interface GenerationKeys {
  user_id: string;
  key: string;
  generation_id: string;
  created_at: Date;
}

/** Without what only SQL reads. */
export type GenerationRow = Omit<Selectable<Generations>, "asked_at" | "reads_id">;

/** What the function that ends an answer returns: the columns of earlier releases too. */
export type EndedRow = Omit<GenerationRow, "options">;

/** A file of a question, as it was when it was sent, and what of it a model reads at most. */
export interface Attachment {
  fileId: string;
  name: string;
  contentType: string;
  bytes: number;
  width: number | null;
  height: number | null;
  /** All pages of a PDF. */
  pages: number | null;
  /** Only a recording has it. */
  durationMs?: number;
  reading: Reading;
}

export interface Messages {
  id: Generated<string>;
  conversation_id: string;
  parent_id: string | null;
  role: "user" | "assistant";
  /** Set for an answer. */
  generation_id: string | null;
  /** Set for a question. */
  content: string | null;
  /** The files of a question; null without any. */
  attachments: Generated<Attachment[] | null>;
  attachment_tokens: Generated<number>;
  /** Of a question: how many messages come before it in its branch; written by a trigger. Null before migration 0120. */
  earlier: GeneratedAlways<number | null>;
  created_at: Date;
}

export interface GenerationParts {
  generation_id: string;
  place: number;
  kind: "text" | "picture" | "sound" | "clip" | "sources" | "segments" | "file";
  text: string | null;
  detail: Json<Record<string, unknown>> | null;
  /** The file of `detail`; written by a trigger. */
  file_id: GeneratedAlways<string | null>;
}

export interface GenerationEvents {
  generation_id: string;
  first_event: number;
  last_event: number;
  frames: string;
}

/** A clip that waits or is being made. Times are PostgreSQL's. */
export interface ClipJobs {
  generation_id: string;
  user_id: string;
  prompt: string;
  state: Generated<"queued" | "starting" | "working">;
  request_id: Generated<string | null>;
  percent: Generated<number | null>;
  told_place: Generated<number | null>;
  events: Generated<number>;
  refusals: Generated<number>;
  again_at: Generated<Date | null>;
  queued_at: Generated<Date>;
  started_at: Generated<Date | null>;
  owner: Generated<string | null>;
  lease_expires_at: Generated<Date | null>;
}

export type ClipJob = Selectable<ClipJobs>;

/** What a person set for their own spending. `day` and `day_credits` are written by the functions that start and end answers. */
export interface SpendingLimits {
  user_id: string;
  daily_cap_credits: number | null;
  ask_above_credits: number | null;
  /** Null without a cap. */
  day: Date | null;
  day_credits: number;
}

/** The times in the last minute at which we refused a person's sends. */
export interface RefusedSends {
  user_id: string;
  refused_at: Date[];
}
