/**
 * Work that time makes due, swept from rows: moving the clock, an outage and a lost queue are all the same case. Business
 * sweeps run at their due instants, at once when the sandbox moves the clock; wall-time sweeps every few seconds. A lease
 * per sweep lets one worker at a time run it.
 */

import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import type { Deps } from "#server/deps.ts";
import { forgetOldAttempts } from "#server/features/auth/attempts.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { endGracePeriods, postDueScheduledGrants } from "#server/features/billing/schedules.ts";
import { dueInstants } from "#server/features/clock/service.ts";
import type { SweepName } from "#server/features/clock/sweeps.ts";
import { sweepNames } from "#server/features/clock/sweeps.ts";
import { expireDueGrants, findDisagreements, releaseOverdueHolds } from "#server/features/credits/service.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import { backoffMs } from "./run-job.ts";

const tickMs = 500;
const wallSweepEveryMs = 5_000;
const forgetEveryMs = hourMs;
const leaseMs = 120_000;
const reconcileEveryMs = hourMs;

async function reconcile(deps: Deps, now: Date): Promise<void> {
  const dueAt = (await dueInstants(deps.db)).reconcile ?? now;
  const { repaired } = await reconcileBilling(deps, addMilliseconds(dueAt, -reconcileEveryMs));
  const disagreements = await findDisagreements(deps.db);
  if (repaired > 0) deps.log.warn({ repaired }, "reconciliation found events we had not been told of");
  if (disagreements.length > 0) deps.log.error({ disagreements: disagreements.slice(0, 20) }, "the ledger and its balances disagree");
  await deps.db
    .updateTable("schedules")
    .set({ due_at: addMilliseconds(now, reconcileEveryMs) })
    .where("name", "=", "reconcile")
    .execute();
}

/** In this order: what Stripe knows first, grants before the expiry of what they replace. */
const sweeps: Readonly<Record<SweepName, (deps: Deps, now: Date) => Promise<unknown>>> = {
  reconcile,
  "scheduled-grants": (deps, now) => postDueScheduledGrants(deps, now),
  "grace-periods": (deps, now) => endGracePeriods(deps, now),
  "expired-grants": (deps, now) => expireDueGrants(deps.db, now),
};

async function ensureSchedules(deps: Deps): Promise<void> {
  await deps.db
    .insertInto("schedules")
    .values(sweepNames.map((name) => ({ name, due_at: deps.clock.now(), leased_until: null, last_run_at: null, last_error: null })))
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
}

/** True when this worker may run the sweep; wall time, so that a killed worker's lease lapses. */
async function takeLease(deps: Deps, name: string): Promise<boolean> {
  const result = await sql`update schedules set leased_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
    where name = ${name} and (leased_until is null or leased_until < clock_timestamp()) returning name`.execute(deps.db);
  return result.rows.length > 0;
}

async function endLease(deps: Deps, name: string, now: Date, error: unknown, failures: number): Promise<void> {
  const waitMs = error === undefined ? 0 : backoffMs(failures);
  const message = error === undefined ? null : String(error).slice(0, 2_000);
  await sql`update schedules set last_run_at = ${now}, last_error = ${message},
      leased_until = case when ${waitMs} > 0 then clock_timestamp() + make_interval(secs => ${waitMs / 1000}) end
    where name = ${name}`.execute(deps.db);
}

export interface Schedules {
  stop(): Promise<void>;
}

export function startSchedules(deps: Deps): Schedules {
  const stopping = new AbortController();
  const failures = new Map<SweepName, number>();
  let wakeUp = new AbortController();
  let ready = false;
  let wallSweepDueAt = 0;
  let forgetDueAt = 0;
  deps.clock.onMove(() => wakeUp.abort());

  async function runSweep(name: SweepName, now: Date): Promise<void> {
    if (!(await takeLease(deps, name))) return;
    let failure: unknown;
    try {
      await sweeps[name](deps, now);
      failures.delete(name);
    } catch (error) {
      failure = error ?? new Error("unknown");
      failures.set(name, (failures.get(name) ?? 0) + 1);
      deps.log.warn({ err: error, sweep: name }, "sweep failed, will be tried again");
    }
    await endLease(deps, name, now, failure, failures.get(name) ?? 0);
  }

  async function runDue(): Promise<void> {
    if (!ready) await ensureSchedules(deps);
    ready = true;
    const now = deps.clock.now();
    const due = await dueInstants(deps.db);
    for (const name of sweepNames) {
      const at = due[name];
      if (at !== null && at <= now && !stopping.signal.aborted) await runSweep(name, now);
    }
  }

  async function runWallSweeps(): Promise<void> {
    if (Date.now() < wallSweepDueAt) return;
    wallSweepDueAt = Date.now() + wallSweepEveryMs;
    await endOrphanedAnswers(deps);
    await releaseOverdueHolds(deps.db, deps.clock.now(), new Date());
    if (Date.now() < forgetDueAt) return;
    forgetDueAt = Date.now() + forgetEveryMs;
    await forgetOldAttempts(deps.db, new Date());
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wakeUp = new AbortController();
      await runDue().catch((error: unknown) => deps.log.warn({ err: error }, "schedules could not be read"));
      await runWallSweeps().catch((error: unknown) => deps.log.warn({ err: error }, "wall-time sweeps failed"));
      await delay(tickMs, undefined, { signal: AbortSignal.any([wakeUp.signal, stopping.signal]) }).catch(() => {});
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
