/** Deletes many rows in small batches, so that other statements wait neither long for locked rows nor for the disk. */
import { setTimeout as delay } from "node:timers/promises";

const firstBatch = 10;
const largestBatch = 100;
/**
 * How long a batch should take. It holds its locks that long, and nobody may wait longer than `longestBatchMs` for them. We aim at a fifth
 * of that, because the next rows may be larger than the last ones and the disk slower (tests/bench/retention.ts).
 */
const batchMs = 20;
export const longestBatchMs = 100;

export interface Paced {
  rows: number;
  /** How long the longest batch took, and so held its locks. */
  longestMs: number;
}

/**
 * Calls `batch` with the number of rows it may take, until it takes none or `signal` is aborted. The number follows from the time that
 * the batches take. After each batch there is a pause as long as the batch.
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
