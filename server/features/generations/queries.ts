/** SQL of answers. The two hot writes are one round trip each (`turn_start` and `answer_end` in the migrations), and prepared once per connection. */
import { sql } from "kysely";
import type { GrantKind } from "#domain/credits.ts";
import type { Part, Turn } from "../../contract/generations.ts";
import type { Executor } from "../../db/transaction.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";

/** Named, so that a statement prepared before a migration keeps its result's form after it. */
export const columns = sql.raw(
  "id, user_id, payer_id, model_id, idempotency_key, request_hash, status, failure_code, cut_short, hold_id, quoted_credits, price_version, charged_credits, available_after, " +
    "prompt_tokens, completion_tokens, cost_micro_dollars, capture_id, trimmed_messages, lease_owner, lease_expires_at, stop_requested_at, created_at, ended_at, erased_at",
);

/** A turn of a conversation, by the ids its messages get. */
export interface PlannedTurn {
  conversationId: string;
  isNew: boolean;
  title: string;
  /** The answer that the question follows. */
  parentId: string | null;
  questionId: string;
  answerId: string;
  /** Null: one more answer to a question that is there. */
  prompt: string | null;
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
  /** The caller has found a reason to refuse it: it counts towards the rate, and a key that is known still finds its answer. */
  refused: boolean;
  /** A hold that serves several answers; null: one of its own. */
  holdId: string | null;
  /** Null: an answer without a conversation. */
  turn: PlannedTurn | null;
  trimmedMessages: number;
  requestsPerMinute: number;
  concurrentAnswers: number;
  owner: string;
  /** How long lease and hold last, by PostgreSQL's clock, as the rate goes by it. */
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
    | "no_conversation";
  generation_id: string | null;
  retry_after_ms: number | null;
  /** What could be spent on it, in credits. */
  available: number | null;
}

/** JSON holds no half of a surrogate pair for PostgreSQL, and its text none either. */
export const toJson = (content: unknown) =>
  JSON.stringify(content, (_key, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value));

export async function callStart(executor: Executor, start: StartRow): Promise<StartOutcome> {
  const result =
    await sql<StartOutcome>`/* prepared */ select * from turn_start(${start.turn && toJson(start.turn)}::jsonb, ${start.id}, ${start.userId}, ${start.modelId},
      ${start.idempotencyKey}, ${start.requestHash}, ${start.credits}, ${start.priceVersion}, ${start.kinds}, ${start.refused}, ${start.holdId},
      ${start.trimmedMessages}, ${start.requestsPerMinute}, ${start.concurrentAnswers}, ${start.owner}, ${start.leaseMs}, ${start.holdMs},
      ${start.now})`.execute(executor);
  const row = result.rows[0];
  if (row === undefined) throw new Error("turn_start returned no row");
  return row;
}

export interface EndRow {
  id: string;
  /** Null: whoever comes after the lease has expired. */
  owner: string | null;
  status: "completed" | "stopped" | "failed";
  failureCode: string | null;
  cutShort: boolean;
  chargedCredits: number;
  parts: readonly Part[];
  promptTokens: number | null;
  completionTokens: number | null;
  /** What the provider takes for it; null: not known. */
  costMicroDollars: number | null;
  lastFrames: LogBatch | undefined;
  /** The grants the person may spend now: the receipt says what is left of them. */
  kinds: readonly GrantKind[];
  now: Date;
}

/** The row as it is now, ended by this call or before; undefined when there is none. */
export async function callEnd(executor: Executor, end: EndRow): Promise<GenerationRow | undefined> {
  const log = end.lastFrames;
  const result = await sql<GenerationRow>`/* prepared */
    select ${columns} from answer_end(${end.id}, ${end.owner}, ${end.status}, ${end.failureCode}, ${end.cutShort}, ${end.chargedCredits}, ${toJson(end.parts)}::jsonb,
      ${end.promptTokens}, ${end.completionTokens}, ${end.costMicroDollars}, ${log?.firstEvent ?? null}, ${log?.lastEvent ?? null}, ${log?.frames ?? null},
      ${end.kinds}, ${end.now})`.execute(executor);
  return result.rows[0];
}

/** Frames that go to the log as one row. */
export interface LogBatch {
  generationId: string;
  firstEvent: number;
  lastEvent: number;
  frames: string;
}

/**
 * Writes the batches of all answers of one owner. A batch that was written already is widened, never narrowed: after a
 * lost connection nobody knows whether it was. Answers that are no longer the owner's, or were deleted, are passed over.
 */
export async function insertLog(executor: Executor, owner: string, batches: readonly LogBatch[]): Promise<void> {
  await sql`
    insert into generation_events as known (generation_id, first_event, last_event, frames)
      select batch.id, batch.first_event, batch.last_event, batch.frames
        from unnest(${batches.map((batch) => batch.generationId)}::uuid[], ${batches.map((batch) => batch.firstEvent)}::integer[],
          ${batches.map((batch) => batch.lastEvent)}::integer[], ${batches.map((batch) => batch.frames)}::text[])
          as batch (id, first_event, last_event, frames)
        join generations g on g.id = batch.id and g.lease_owner = ${owner} and g.status = 'streaming' and g.erased_at is null
      on conflict (generation_id, first_event) do update set last_event = excluded.last_event, frames = excluded.frames
        where known.last_event < excluded.last_event`.execute(executor);
}

/** From now on by PostgreSQL's clock, which is the only one that judges leases. */
export async function renewLeases(executor: Executor, owner: string, ids: readonly string[], leaseMs: number): Promise<void> {
  await executor
    .updateTable("generations")
    .set({ lease_expires_at: sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'` })
    .where("id", "in", ids)
    .where("lease_owner", "=", owner)
    .where("status", "=", "streaming")
    .execute();
}

/** Of these answers, the ones that were asked to stop, the ones somebody else has ended, and, with null, those PostgreSQL does not know. */
export async function selectInterruptions(executor: Executor, ids: readonly string[]): Promise<{ id: string; status: string | null }[]> {
  const result = await sql<{ id: string; status: string | null }>`
    select asked.id, g.status from unnest(${ids}::uuid[]) as asked (id) left join generations g on g.id = asked.id
      where g.id is null or g.stop_requested_at is not null or g.status <> 'streaming'`.execute(executor);
  return result.rows;
}

export async function selectGenerations(executor: Executor, ids: readonly string[]): Promise<GenerationRow[]> {
  const result = await sql<GenerationRow>`select * from generations where id = any (${ids}::uuid[])`.execute(executor);
  return result.rows;
}

export async function selectGeneration(executor: Executor, userId: string, id: string): Promise<GenerationRow | undefined> {
  return executor.selectFrom("generations").selectAll().where("id", "=", id).where("user_id", "=", userId).executeTakeFirst();
}

export async function selectByKey(executor: Executor, userId: string, key: string): Promise<GenerationRow | undefined> {
  return executor
    .selectFrom("generation_keys")
    .innerJoin("generations", "generations.id", "generation_keys.generation_id")
    .selectAll("generations")
    .where("generation_keys.user_id", "=", userId)
    .where("generation_keys.key", "=", key)
    .executeTakeFirst();
}

/** What these answers have said, by id. */
export async function selectParts(executor: Executor, ids: readonly string[]): Promise<Map<string, Part[]>> {
  const parts = new Map<string, Part[]>();
  if (ids.length === 0) return parts;
  const rows = await executor
    .selectFrom("generation_parts")
    .select(["generation_id", "text"])
    .where("generation_id", "in", ids)
    .where("kind", "=", "text")
    .orderBy("generation_id")
    .orderBy("place")
    .execute();
  for (const { generation_id: id, text } of rows) parts.set(id, [...(parts.get(id) ?? []), { kind: "text", text: text ?? "" }]);
  return parts;
}

/** Where the answer stands; undefined: in no conversation. */
export async function selectTurn(executor: Executor, id: string): Promise<Turn | undefined> {
  const row = await executor
    .selectFrom("messages")
    .select(["id", "conversation_id", "parent_id"])
    .where("generation_id", "=", id)
    .executeTakeFirst();
  return row?.parent_id ? { conversationId: row.conversation_id, questionId: row.parent_id, answerId: row.id } : undefined;
}

/** The log of each answer after the event named with it, in order. Lateral, so that of each answer one partition is read. */
export async function selectLog(executor: Executor, after: ReadonlyMap<string, number>): Promise<LogBatch[]> {
  const result = await sql<LogBatch>`
    select known.id as "generationId", log.first_event as "firstEvent", log.last_event as "lastEvent", log.frames
      from unnest(${[...after.keys()]}::uuid[], ${[...after.values()]}::integer[]) as known (id, after)
      cross join lateral (
        select first_event, last_event, frames from generation_events
          where generation_id = known.id and last_event > known.after order by first_event) log
      order by known.id, log.first_event`.execute(executor);
  return result.rows;
}

export async function setStopRequested(executor: Executor, userId: string, id: string): Promise<void> {
  await executor
    .updateTable("generations")
    .set({ stop_requested_at: sql`clock_timestamp()` })
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("status", "=", "streaming")
    .where("stop_requested_at", "is", null)
    .execute();
}

/** The person's answers that are running, which are asked to stop. */
export async function requestStops(executor: Executor, userId: string): Promise<string[]> {
  const rows = await executor
    .updateTable("generations")
    .set({ stop_requested_at: sql`coalesce(stop_requested_at, clock_timestamp())` })
    .where("user_id", "=", userId)
    .where("status", "=", "streaming")
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

export async function selectOrphans(executor: Executor, limit: number): Promise<{ id: string; user_id: string | null }[]> {
  return executor
    .selectFrom("generations")
    .select(["id", "user_id"])
    .where("status", "=", "streaming")
    .where("lease_expires_at", "<", sql<Date>`clock_timestamp()`)
    .where(notSetAside("orphaned-answers", sql`id`))
    .orderBy("lease_expires_at")
    .limit(limit)
    .execute();
}

/** Locked until the transaction ends, as whoever ends an answer locks it first. */
export async function lockRunningOf(executor: Executor, userId: string, conversationId: string): Promise<string[]> {
  const rows = await executor
    .selectFrom("generations")
    .select("id")
    .where("user_id", "=", userId)
    .where("status", "=", "streaming")
    .where("id", "in", (of) =>
      of.selectFrom("messages").select("generation_id").where("conversation_id", "=", conversationId).$castTo<{ generation_id: string }>(),
    )
    .orderBy("id", "desc")
    .forNoKeyUpdate()
    .execute();
  return rows.map((row) => row.id);
}
