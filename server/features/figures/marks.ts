/**
 * How far each source of the figures was added up. Rows have ids in the order in which they were written (UUIDv7), so a mark is the last id.
 * A transaction takes its ids before it commits, and another one with later ids may commit first. So we only add rows older than the oldest transaction
 * that still runs, less a margin for ids that were made before their transaction began.
 */
import { sql } from "kysely";
import { minuteMs } from "#domain/clock.ts";
import type { Trx } from "../../db/transaction.ts";
import type { FigureSource } from "../../db/types-figures.ts";

/** An answer's id is made before its start waits for a connection and is written. The API gives up on it long before this. */
export const settleMs = minuteMs;

export const firstId = "00000000-0000-0000-0000-000000000000";

/** The last id that could be made in this millisecond. */
function lastIdOf(timeMs: number): string {
  const hex = Math.floor(timeMs).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-ffff-ffff-ffffffffffff`;
}

/** The rows of a source after `after`, up to and including `upTo`, the oldest first. */
export interface Range {
  after: string;
  upTo: string;
  limit: number;
}

/** How many rows were added and the last of them; null without any. */
export interface Added {
  rows: number;
  last: string | null;
}

export type AddBatch = (trx: Trx, range: Range) => Promise<Added>;

/** Wall time up to which every committed row is visible. We can't see the transactions of other roles, but those write none of the sources. */
async function readSettled(trx: Trx, marginMs: number): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from least(clock_timestamp(), (select min(xact_start) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()))) * 1000)::float8 as ms`.execute(trx);
  return Math.floor(rows[0]?.ms ?? 0) - marginMs;
}

/** Locks the mark. Undefined if another process is adding up. */
async function lockMark(trx: Trx, source: FigureSource): Promise<string | undefined> {
  const { rows } = await sql<{ reached: string }>`
    select reached from figure_marks where source = ${source} for update skip locked`.execute(trx);
  return rows[0]?.reached;
}

/** The sums are complete up to `completeUntil` or, without it, up to when `reached` was made. */
async function moveMark(trx: Trx, source: FigureSource, reached: string, completeUntil?: Date): Promise<void> {
  const complete_until = completeUntil ?? sql<Date>`uuid_extract_timestamp(${reached}::uuid)`;
  await trx.updateTable("figure_marks").set({ reached, complete_until }).where("source", "=", source).execute();
}

/** Adds the next rows up to `settled`. Returns false if there are more, undefined if another process is adding up. */
export async function addNext(
  trx: Trx,
  source: FigureSource,
  add: AddBatch,
  { marginMs, limit }: { marginMs: number; limit: number },
): Promise<boolean | undefined> {
  const after = await lockMark(trx, source);
  if (after === undefined) return undefined;
  // A batch has few rows, so looking them up by key is right, even if outdated statistics suggest another plan.
  await sql`select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true)`.execute(
    trx,
  );
  const settled = await readSettled(trx, marginMs);
  const { rows, last } = await add(trx, { after, upTo: lastIdOf(settled), limit });
  const isDone = rows < limit;
  const reached = last ?? after;
  await moveMark(trx, source, reached, isDone ? new Date(settled) : undefined);
  return isDone;
}
