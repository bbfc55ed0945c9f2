/** One worker at a time runs a sweep: it has the lease of the sweep's row in `schedules`. */
import { sql } from "kysely";
import type { Deps } from "#server/deps.ts";
import type { SweepName } from "#server/features/clock/sweeps.ts";
import { whileRenewing } from "#server/queue/leases.ts";
import { backoffMs } from "./run-job.ts";

/** Renewed while the sweep runs, so that a killed worker's is free again soon. */
const leaseMs = 30_000;

/**
 * What shows that the lease is this worker's: the instant it lasts until, as PostgreSQL writes it. Undefined: another has it. Wall
 * time, so that a killed worker's lapses.
 */
async function takeLease(deps: Deps, name: SweepName, own?: string): Promise<string | undefined> {
  const free =
    own === undefined ? sql`(leased_until is null or leased_until < clock_timestamp())` : sql`leased_until = ${own}::timestamptz`;
  const { rows } = await sql<{ lease: string }>`
    update schedules set leased_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
      where name = ${name} and ${free} returning leased_until::text as lease`.execute(deps.db);
  return rows[0]?.lease;
}

async function endLease(deps: Deps, name: SweepName, lease: string, now: Date, error: unknown, failures: number): Promise<void> {
  const waitMs = error === undefined ? 0 : backoffMs(failures);
  const message = error === undefined ? null : String(error).slice(0, 2_000);
  await sql`update schedules set last_run_at = ${now}, last_error = ${message},
      leased_until = case when ${waitMs} > 0 then clock_timestamp() + make_interval(secs => ${waitMs / 1000}) end
    where name = ${name} and leased_until = ${lease}::timestamptz`.execute(deps.db);
}

/**
 * Runs `work` where no other worker does. `failures` counts by sweep how often it failed in a row, after which the lease stays taken
 * for a while. What ends because `stopping` is aborted has not failed.
 */
export async function runLeased(
  deps: Deps,
  name: SweepName,
  now: Date,
  failures: Map<SweepName, number>,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const taken = await takeLease(deps, name);
  if (taken === undefined) return;
  let failure: unknown;
  let lease = taken;
  async function renew(): Promise<boolean> {
    const renewed = await takeLease(deps, name, lease);
    lease = renewed ?? lease;
    return renewed !== undefined;
  }
  await whileRenewing(leaseMs / 3, renew, async (lost) => {
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
  await endLease(deps, name, lease, now, failure, failures.get(name) ?? 0);
}
