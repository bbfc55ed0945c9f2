/** Deletes rows that are past their limit in server/domain/retention.ts, in small batches. */
import { sql } from "kysely";
import type { Sweep } from "#domain/kept-periods.ts";
import { sweeps } from "#domain/retention.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Paced } from "../../queue/paced-batches.ts";
import { inBatches, longestBatchMs } from "../../queue/paced-batches.ts";

interface Batch {
  /** How many rows the batch deleted; 0 if none is left. */
  done: number;
  /** Where the next batch begins. */
  reached: string | null;
}

export async function sweepBatch(executor: Executor, sweep: Sweep, limit: number, from: string | null = null): Promise<Batch> {
  // The commit need not wait for the disk: if a crash brings rows back, they are still past their limit. One plan serves every call, because for a
  // large table PostgreSQL would otherwise plan each batch anew, which takes longer than finding that there is nothing to delete.
  const result = await sql<Batch>`select done, reached
    from set_config('synchronous_commit', 'off', true) as commits, set_config('plan_cache_mode', 'force_generic_plan', true) as plans, ${sql.ref(sweeps[sweep].sql)}(${limit}, ${from})`.execute(
    executor,
  );
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

/** Deletes everything that is past its limit. A sweep that fails is logged, and the others still run. Several processes may run this at once. */
export async function sweepRetention(deps: Pick<Deps, "db" | "log">, signal: AbortSignal): Promise<Partial<Record<Sweep, Paced>>> {
  const swept: Partial<Record<Sweep, Paced>> = {};
  for (const sweep of Object.keys(sweeps) as Sweep[]) {
    if (signal.aborted) break;
    try {
      const done = await sweepAll(deps, sweep, signal);
      swept[sweep] = done;
      // A batch that deleted nothing locked nothing. The first one after a start may be slow, because nothing is cached yet.
      if (done.rows > 0 && done.longestMs > longestBatchMs) deps.log.warn({ sweep, ...done }, "a batch of a retention sweep took long");
    } catch (error) {
      deps.log.error({ err: error, sweep }, "a retention sweep failed, will be tried again");
    }
  }
  return swept;
}
