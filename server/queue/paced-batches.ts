/** Deletes much in small batches, so that nobody waits long for the rows that a batch has locked, and the disk is not busy with it alone. */
import { setTimeout as delay } from "node:timers/promises";

const firstBatch = 10;
const largestBatch = 100;
/**
 * A batch holds its locks as long as it lasts, and nobody may have to wait for them longer than `longestBatchMs`. One that aims at a fifth
 * of that stays below it where its rows are larger than the last ones were, or the disk is slower (tests/bench/retention.ts).
 */
const batchMs = 20;
export const longestBatchMs = 100;

export interface Paced {
  rows: number;
  /** Of the batches: as long as one lasts, it holds its locks. */
  longestMs: number;
}

/**
 * Calls `batch` with the number of rows it may take until it has taken none, or `signal` is aborted. Batches grow and shrink with the time
 * they take, and rest as long as they worked.
 */
export async function inBatches(batch: (limit: number) => Promise<number>, signal: AbortSignal): Promise<Paced> {
  const paced: Paced = { rows: 0, longestMs: 0 };
  let limit = firstBatch;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const done = await batch(limit);
    const elapsedMs = performance.now() - startedAt;
    paced.rows += done;
    paced.longestMs = Math.max(paced.longestMs, elapsedMs);
    if (done === 0) return paced;
    if (elapsedMs > batchMs) limit = Math.max(firstBatch, Math.floor(limit / 2));
    else if (elapsedMs < batchMs / 2) limit = Math.min(largestBatch, limit * 2);
    await delay(elapsedMs, undefined, { signal }).catch(() => {});
  }
  return paced;
}
