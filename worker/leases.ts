/** Only one worker at a time runs a sweep: the worker that holds the lease in the sweep's row of `schedules`. */
import { sql } from "kysely";
import type { Deps } from "#server/deps.ts";
import type { SweepName } from "#server/features/clock/sweeps.ts";
import { whileRenewing } from "#server/queue/leases.ts";
import { backoffMs } from "./run-job.ts";

/** Short, so that another worker can take the lease soon after this one was killed. It is renewed while the sweep runs. */
const leaseMs = 30_000;

/**
 * Takes the lease, or renews it if `own` is given. Returns the time at which the lease ends, as PostgreSQL writes it: this text
 * identifies the lease as ours. Returns undefined if another worker holds the lease. Uses wall time, so that the lease of a
 * killed worker ends.
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
