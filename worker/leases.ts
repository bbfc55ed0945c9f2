/** Only one worker at a time runs a sweep: the worker that holds the lease in the sweep's row of `schedules`. */
import { sql } from "kysely";
import type { Deps } from "#server/deps.ts";
import type { SweepName } from "#server/features/clock/sweeps.ts";
import { takeLease } from "#server/queue/leases.ts";
import { backoffMs } from "./run-job.ts";

/** Short, so that another worker can take the lease soon after this one was killed. It is renewed while the sweep runs. */
const leaseMs = 30_000;

/**
 * Runs `work` unless another worker holds the lease. `failures` counts how often each sweep has failed in a row; after a
 * failure the lease stays taken for the back-off time. An error after `stopping` was aborted does not count as a failure.
 */
export async function runLeased(
  deps: Deps,
  name: SweepName,
  now: Date,
  failures: Map<SweepName, number>,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const lease = await takeLease(deps.db, { table: "schedules", key: name }, leaseMs);
  if (!lease) return;
  let failure: unknown;
  await lease.whileHeld(async (lost) => {
    try {
      await work(AbortSignal.any([stopping, lost]));
      failures.delete(name);
    } catch (error) {
      if (stopping.aborted) return;
      failure = error ?? new Error("unknown");
      failures.set(name, (failures.get(name) ?? 0) + 1);
      deps.log.warn({ err: error, sweep: name }, "sweep failed, will be tried again");
    }
  });
  const message = failure === undefined ? null : String(failure).slice(0, 2_000);
  // A worker that has lost the lease does not overwrite what the next one says of its run.
  await sql`update schedules set last_run_at = ${now}, last_error = ${message}
    where name = ${name} and leased_until = ${lease.until}::timestamptz`.execute(deps.db);
  await lease.end(failure === undefined ? 0 : backoffMs(failures.get(name) ?? 0));
}
