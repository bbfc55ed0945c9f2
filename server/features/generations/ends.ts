/** The end of answers in PostgreSQL: one round trip for all that end together (`answers_end` in the migrations). */
import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { Part } from "../../contract/generations/generations.ts";
import type { Executor } from "../../db/transaction.ts";
import type { EndedRow } from "../../db/types-answers.ts";
import type { LogBatch } from "./queries.ts";
import { toJson } from "./queries.ts";

export interface EndRow {
  id: string;
  /** The process that has the lease. Null for any other process, which may end the answer only once the lease has expired. */
  owner: string | null;
  status: "completed" | "stopped" | "failed";
  failureCode: string | null;
  filterReason?: FilterReason | null;
  cutShort: boolean;
  chargedCredits: number;
  parts: readonly Part[];
  promptTokens: number | null;
  completionTokens: number | null;
  thinkingTokens?: number | null;
  searches?: number | null;
  /** What the provider charges us; null if that is not known. */
  costMicroDollars: number | null;
  /** The time from the request to its first text. Left out if it has none. */
  firstTextMs?: number | undefined;
  lastFrames: LogBatch | undefined;
  /** The kinds of grants the person may spend now. The receipt says how many of their credits are left. */
  kinds: readonly GrantKind[];
  now: Date;
}

/** We name the columns, so that a statement prepared before a migration still returns the same columns after it. */
const columns = sql.raw(
  "id, user_id, payer_id, model_id, idempotency_key, request_hash, status, failure_code, filter_reason, cut_short, hold_id, quoted_credits, price_version, charged_credits, available_after, " +
    "prompt_tokens, completion_tokens, thinking_tokens, searches, cost_micro_dollars, capture_id, trimmed_messages, lease_owner, lease_expires_at, stop_requested_at, created_at, ended_at, erased_at",
);

/** A part as its row has it: a text, or the details of another kind. */
function toStored(part: Part) {
  if (part.kind === "text") return part;
  const { kind, ...detail } = part;
  return { kind, detail };
}

/**
 * One statement for all ends. Returns the row of each answer, also if it had ended before; undefined if there is none. Unless it `waits`, an answer
 * whose wallet is locked is left out, too, and the statement fails if an answer's row is locked.
 */
export async function callEnds(executor: Executor, ends: readonly EndRow[], waits: boolean): Promise<(EndedRow | undefined)[]> {
  const asks = ends.map(({ lastFrames, parts, ...end }) => ({ ...end, parts: parts.map(toStored), ...lastFrames }));
  const { rows } =
    await sql<EndedRow>`/* prepared */ select ${columns} from answers_end(${toJson(asks)}::json, ${ends.map(({ id }) => id)}::uuid[],
    ${ends.map(({ owner }) => owner)}::uuid[], ${ends.map(({ chargedCredits }) => chargedCredits)}::bigint[],
    ${ends.map(({ now }) => now)}::timestamptz[], ${waits})`.execute(executor);
  const ended = new Map(rows.map((row) => [row.id, row]));
  return ends.map(({ id }) => ended.get(id));
}

export async function callEnd(executor: Executor, end: EndRow): Promise<EndedRow | undefined> {
  const [row] = await callEnds(executor, [end], true);
  return row;
}
