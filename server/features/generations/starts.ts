/** The start of answers in PostgreSQL: one round trip for all that start together (`answers_start` in the migrations). */
import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Attachment } from "../../db/types-answers.ts";
import type { AnswerOptions } from "./answer-options.ts";
import { keepOptions } from "./answer-options.ts";
import { toJson } from "./queries.ts";

/** A turn of a conversation, by the ids its messages get. */
export interface PlannedTurn {
  conversationId: string;
  isNew: boolean;
  title: string;
  /** The answer that the question follows. */
  parentId: string | null;
  questionId: string;
  answerId: string;
  /** Null to answer an existing question again. */
  prompt: string | null;
  /** The files of a new question. */
  attachments?: readonly Attachment[];
  attachmentTokens?: number;
}

export interface StartRow {
  id: string;
  userId: string;
  modelId: string;
  idempotencyKey: string;
  requestHash: Buffer;
  credits: number;
  priceVersion: string;
  kinds: readonly GrantKind[];
  /** True if the caller refuses the request. It then only counts towards the rate, or finds the answer that the key began before. */
  refused: boolean;
  /** The hold that this answer shares with others; null if it gets its own. */
  holdId: string | null;
  /** Null for an answer without a conversation. */
  turn: PlannedTurn | null;
  trimmedMessages: number;
  /** What is asked for beside words; absent from other answers. */
  options?: AnswerOptions;
  /** Only for a clip: its job needs it. */
  prompt?: string;
  requestsPerMinute: number;
  concurrentAnswers: number;
  owner: string;
  /** How long the lease and the hold last. Both, and the rate, are judged by PostgreSQL's clock. */
  leaseMs: number;
  holdMs: number;
  now: Date;
}

export interface StartOutcome {
  outcome:
    | "created"
    | "known"
    | "conflict"
    | "rate_limited"
    | "refused"
    | "no_wallet"
    | "wallet_frozen"
    | "too_many_answers"
    | "insufficient_credits"
    | "daily_cap_reached"
    | "no_conversation";
  generation_id: string | null;
  retry_after_ms: number | null;
  /** How many credits the person can spend on this answer. */
  available: number | null;
}

/**
 * One statement for all starts, accepted or refused. Unless it `waits`, a start whose person's wallet is locked is left out and gets undefined,
 * and the statement fails if another of the starts' rows is locked.
 */
export async function callStarts(executor: Executor, starts: readonly StartRow[], waits: boolean): Promise<(StartOutcome | undefined)[]> {
  const asks = starts.map(({ turn, requestHash, options: _options, prompt: _prompt, ...start }, place) => ({
    ...start,
    ...turn,
    requestHash: requestHash.toString("hex"),
    place,
  }));
  const turns = starts.flatMap(({ turn }) => turn ?? []);
  const conversations = turns.filter(({ isNew }) => !isNew).map(({ conversationId }) => conversationId);
  const files = turns.flatMap(({ attachments = [] }) => attachments.map(({ fileId }) => fileId));
  const { rows } = await sql<StartOutcome & { place: number }>`/* prepared */ select * from answers_start(${toJson(asks)}::json,
    ${starts.map(({ userId }) => userId)}::uuid[], ${conversations}::uuid[], ${files}::uuid[], ${waits})`.execute(executor);
  const outcomes = new Map(rows.map(({ place, ...outcome }) => [place, outcome]));
  return starts.map((_, place) => outcomes.get(place));
}

/** What has options is asked for in a transaction, since the row gets its options after it was written. */
export async function callStart(executor: Executor, start: StartRow): Promise<StartOutcome> {
  const [row] = await callStarts(executor, [start], true);
  if (row === undefined) throw new Error("answers_start returned no row");
  if (row.outcome === "created" && start.options) await keepOptions(executor, start, start.options);
  return row;
}
