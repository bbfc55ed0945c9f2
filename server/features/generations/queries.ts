/** SQL of answers. The two hot writes are one round trip each (starts.ts, ends.ts), and prepared once per connection. */
import { sql } from "kysely";
import type { Part, Turn } from "../../contract/generations/generations.ts";
import type { Executor } from "../../db/transaction.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import { notSetAside } from "../../queue/sweep-rows.ts";

/** Replaces lone surrogates, because PostgreSQL refuses them in JSON and in text. */
export const toJson = (content: unknown) =>
  JSON.stringify(content, (_key, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value));

/** A part from its row. */
function fromStored({ kind, text, detail }: { kind: string; text: string | null; detail: Record<string, unknown> | null }): Part {
  return kind === "text" ? { kind, text: text ?? "" } : ({ kind, ...detail } as Part);
}

/** Frames that are written to the log as one row. */
export interface LogBatch {
  generationId: string;
  firstEvent: number;
  lastEvent: number;
  frames: string;
}

/**
 * Writes batches of several answers of one owner. After a lost connection we don't know whether a batch was written, so we write it again,
 * perhaps with more frames, and the row with more frames stays. Skips answers that were deleted or have another owner now.
 */
export async function insertLog(executor: Executor, owner: string, batches: readonly LogBatch[]): Promise<void> {
  await sql`/* prepared */
    insert into generation_events as known (generation_id, first_event, last_event, frames)
      select batch.id, batch.first_event, batch.last_event, batch.frames
        from unnest(${batches.map((batch) => batch.generationId)}::uuid[], ${batches.map((batch) => batch.firstEvent)}::integer[],
          ${batches.map((batch) => batch.lastEvent)}::integer[], ${batches.map((batch) => batch.frames)}::text[])
          as batch (id, first_event, last_event, frames)
        join generations g on g.id = batch.id and g.lease_owner = ${owner} and g.status = 'streaming' and g.erased_at is null
      on conflict (generation_id, first_event) do update set last_event = excluded.last_event, frames = excluded.frames
        where known.last_event < excluded.last_event`.execute(executor);
}

/** Running answers, which are locked by id, as their ends lock them: otherwise the two could wait for each other. */
const lockRunning = (executor: Executor) =>
  executor.selectFrom("generations").select("id").where("status", "=", "streaming").orderBy("id").forNoKeyUpdate();

/** Renews the leases from now on, by PostgreSQL's clock, because no other clock decides about leases. */
export async function renewLeases(executor: Executor, owner: string, ids: readonly string[], leaseMs: number): Promise<void> {
  await executor
    .updateTable("generations")
    .set({ lease_expires_at: sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'` })
    .where("id", "in", lockRunning(executor).where("id", "in", ids).where("lease_owner", "=", owner))
    .execute();
}

/** Returns those of the answers that were asked to stop or that another process has ended and, with null, those PostgreSQL does not know. */
export async function selectInterruptions(executor: Executor, ids: readonly string[]): Promise<{ id: string; status: string | null }[]> {
  const result = await sql<{ id: string; status: string | null }>`/* prepared */
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

/** The stored output of these answers, by id. */
export async function selectParts(executor: Executor, ids: readonly string[]): Promise<Map<string, Part[]>> {
  const parts = new Map<string, Part[]>();
  if (ids.length === 0) return parts;
  const rows = await executor
    .selectFrom("generation_parts")
    .select(["generation_id", "kind", "text", "detail"])
    .where("generation_id", "in", ids)
    .where("kind", "in", ["text", "sources", "segments", "picture", "clip", "sound"])
    .orderBy("generation_id")
    .orderBy("place")
    .execute();
  for (const { generation_id: id, ...stored } of rows) parts.set(id, [...(parts.get(id) ?? []), fromStored(stored)]);
  return parts;
}

/** The answer's place in its conversation; undefined if it is in none. */
export async function selectTurn(executor: Executor, id: string): Promise<Turn | undefined> {
  const row = await executor
    .selectFrom("messages")
    .select(["id", "conversation_id", "parent_id"])
    .where("generation_id", "=", id)
    .executeTakeFirst();
  return row?.parent_id ? { conversationId: row.conversation_id, questionId: row.parent_id, answerId: row.id } : undefined;
}

/** Reads the log of each answer after the given event, in order. The join is lateral, so that PostgreSQL reads one partition for each answer. */
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

/** Asks the person's running answers to stop. Returns their ids. */
export async function requestStops(executor: Executor, userId: string): Promise<string[]> {
  const rows = await executor
    .updateTable("generations")
    .set({ stop_requested_at: sql`coalesce(stop_requested_at, clock_timestamp())` })
    .where("id", "in", lockRunning(executor).where("user_id", "=", userId))
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** `ended_at` is the condition of the index. */
export async function selectOrphans(executor: Executor, limit: number): Promise<{ id: string; user_id: string | null }[]> {
  return (
    executor
      .selectFrom("generations")
      .select(["id", "user_id"])
      .where("ended_at", "is", null)
      .where("lease_expires_at", "<", sql<Date>`clock_timestamp()`)
      // Clips have no process of their own, but jobs.
      .where(sql<boolean>`not exists (select from clip_jobs where generation_id = generations.id)`)
      .where(notSetAside("orphaned-answers", sql`id`))
      .orderBy("lease_expires_at")
      .limit(limit)
      .execute()
  );
}

/** Locks the running answers, so that none ends before this transaction does. The end locks its wallet and then the answers, by id. */
export async function lockRunningOf(executor: Executor, userId: string, conversationId: string): Promise<string[]> {
  const rows = await lockRunning(executor)
    .where("user_id", "=", userId)
    .where("id", "in", (of) =>
      of.selectFrom("messages").select("generation_id").where("conversation_id", "=", conversationId).$castTo<{ generation_id: string }>(),
    )
    .execute();
  return rows.map((row) => row.id);
}
