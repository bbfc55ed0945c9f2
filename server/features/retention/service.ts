/** Keeps to the table of server/domain/retention.ts: what is past its bound goes, a small batch at a time. */
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Sweep } from "#domain/periods.ts";
import { sweeps } from "#domain/retention.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";

const firstBatch = 10;
const largestBatch = 100;
/**
 * A batch holds its locks as long as it lasts, and nobody may have to wait for them longer than 100 ms. One that aims at a fifth
 * of that stays below it where its rows are larger than the last ones were, or the disk is slower (tests/bench/retention.ts).
 */
const batchMs = 20;
const longestBatchMs = 100;

interface Swept {
  rows: number;
  /** Of its batches: as long as one lasts, it holds its locks. */
  longestMs: number;
}

interface Batch {
  /** How many rows; 0: none is left. */
  done: number;
  /** Where the next batch goes on. */
  reached: string | null;
}

export async function sweepBatch(executor: Executor, sweep: Sweep, limit: number, from: string | null = null): Promise<Batch> {
  // Nobody waits for the disk: what a crash brings back is past its bound still.
  const result = await sql<Batch>`select done, reached
    from set_config('synchronous_commit', 'off', true), ${sql.ref(sweeps[sweep].sql)}(${limit}, ${from})`.execute(executor);
  return result.rows[0] ?? { done: 0, reached: null };
}

/** Batches that grow and shrink with the time they take, and rest as long as they worked. */
async function sweepAll(deps: Pick<Deps, "db">, sweep: Sweep, signal: AbortSignal): Promise<Swept> {
  const swept: Swept = { rows: 0, longestMs: 0 };
  let limit = firstBatch;
  let from: string | null = null;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const { done, reached } = await sweepBatch(deps.db, sweep, limit, from);
    const elapsedMs = performance.now() - startedAt;
    swept.rows += done;
    from = reached;
    swept.longestMs = Math.max(swept.longestMs, elapsedMs);
    if (done === 0) return swept;
    if (elapsedMs > batchMs) limit = Math.max(firstBatch, Math.floor(limit / 2));
    else if (elapsedMs < batchMs / 2) limit = Math.min(largestBatch, limit * 2);
    await delay(elapsedMs, undefined, { signal }).catch(() => {});
  }
  return swept;
}

/** Takes away everything that is past its bound. A sweep that fails is logged and keeps none of the others. Any number at once. */
export async function sweepRetention(deps: Pick<Deps, "db" | "log">, signal: AbortSignal): Promise<Partial<Record<Sweep, Swept>>> {
  const swept: Partial<Record<Sweep, Swept>> = {};
  for (const sweep of Object.keys(sweeps) as Sweep[]) {
    if (signal.aborted) break;
    try {
      const done = await sweepAll(deps, sweep, signal);
      swept[sweep] = done;
      // A batch that found nothing held no row: the first one after a start is slow only because nothing is loaded yet.
      if (done.rows > 0 && done.longestMs > longestBatchMs)
        deps.log.warn({ sweep, ...done }, "a batch of what is past its bound took long");
    } catch (error) {
      deps.log.error({ err: error, sweep }, "what is past its bound could not be deleted, will be tried again");
    }
  }
  return swept;
}
