/** Keeps to the table of server/domain/retention.ts: what is past its bound goes, a small batch at a time. */
import { sql } from "kysely";
import type { Sweep } from "#domain/periods.ts";
import { sweeps } from "#domain/retention.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Paced } from "../../queue/paced-batches.ts";
import { inBatches, longestBatchMs } from "../../queue/paced-batches.ts";

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

async function sweepAll(deps: Pick<Deps, "db">, sweep: Sweep, signal: AbortSignal): Promise<Paced> {
  let from: string | null = null;
  return inBatches(async (limit) => {
    const { done, reached } = await sweepBatch(deps.db, sweep, limit, from);
    from = reached;
    return done;
  }, signal);
}

/** Takes away everything that is past its bound. A sweep that fails is logged and keeps none of the others. Any number at once. */
export async function sweepRetention(deps: Pick<Deps, "db" | "log">, signal: AbortSignal): Promise<Partial<Record<Sweep, Paced>>> {
  const swept: Partial<Record<Sweep, Paced>> = {};
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
