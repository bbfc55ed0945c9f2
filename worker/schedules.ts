/**
 * Sweeps do work that has become due with time. They read it from rows, so that moving the sandbox's clock, an outage and a
 * lost queue need no code of their own. Business sweeps run when they are due, and at once when the sandbox moves the clock;
 * wall-time sweeps run every few seconds. A lease ensures that only one worker at a time runs a sweep. Sweeps that ask Stripe,
 * sweeps that move credits, sweeps over accounts, wall-time sweeps, the hourly deletion of old data, the lists of models and the sums of the figures run in separate loops, so that
 * none waits for another.
 */

import { setTimeout as delay } from "node:timers/promises";
import { addMilliseconds, hourMs, minuteMs } from "#domain/clock.ts";
import type { Deps } from "#server/deps.ts";
import { lockNotAvailable, sqlState } from "#server/failures.ts";
import { deleteUnusedAvatars } from "#server/features/account/avatars.ts";
import { advanceFactorResets } from "#server/features/auth/factor-reset.ts";
import { checkNextSlice, continueFullCheck } from "#server/features/billing/full-check.ts";
import { checkDoubledGrants } from "#server/features/billing/grant-checks.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { tellOfRenewals } from "#server/features/billing/renewal-notices.ts";
import { endGracePeriods, postDueScheduledGrants } from "#server/features/billing/schedules.ts";
import { advanceTrials, checkTrials } from "#server/features/billing/trials.ts";
import { checkModelLists } from "#server/features/catalogue/check-lists.ts";
import { tellOfEndings } from "#server/features/catalogue/tell-endings.ts";
import { dueInstants } from "#server/features/clock/service.ts";
import type { SweepName } from "#server/features/clock/sweeps.ts";
import { sweepNames } from "#server/features/clock/sweeps.ts";
import { checkBooks } from "#server/features/credits/check-books.ts";
import { expireDueGrants, releaseOverdueHolds } from "#server/features/credits/service.ts";
import { eraseDueAccounts } from "#server/features/deletion/erase.ts";
import { addUp } from "#server/features/figures/add-up.ts";
import { addLogPartitions, dropLogPartitions } from "#server/features/generations/log-partitions.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import { sweepRetention } from "#server/features/retention/service.ts";
import { runLeased } from "./leases.ts";

const tickMs = 500;
const wallSweepEveryMs = 5_000;
/**
 * How long the credit sweeps wait for the Stripe sweeps to finish. Stripe usually answers at once, and its answer may end a
 * subscription before the next month's credits are posted. If Stripe hangs, the credit sweeps go on without it.
 */
const headStartMs = 5_000;
const reconcileEveryMs = hourMs;
/** How often a sweep that meets a lock tries, and the pause between two tries. */
const lockTries = 20;
const lockRetryMs = 1_000;
/** How often a worker sees whether the lists of models are due. */
const listsEveryMs = 10 * minuteMs;

async function reconcile(deps: Deps, now: Date, signal: AbortSignal): Promise<void> {
  const dueAt = (await dueInstants(deps.db)).reconcile ?? now;
  const { repaired } = await reconcileBilling(deps, addMilliseconds(dueAt, -reconcileEveryMs), signal);
  if (repaired > 0) deps.log.warn({ repaired }, "reconciliation repaired what was missing; npm run reconcile lists what is left");
  await deps.db
    .updateTable("schedules")
    .set({ due_at: addMilliseconds(now, reconcileEveryMs) })
    .where("name", "=", "reconcile")
    .execute();
  await checkNextSlice(deps, signal);
}

const sweeps: Readonly<Record<SweepName, (deps: Deps, now: Date, signal: AbortSignal) => Promise<unknown>>> = {
  reconcile,
  "full-check": (deps, _now, signal) => continueFullCheck(deps, signal),
  "scheduled-grants": postDueScheduledGrants,
  "grace-periods": endGracePeriods,
  "expired-grants": expireDueGrants,
  trials: advanceTrials,
  "renewal-notices": tellOfRenewals,
  "factor-resets": advanceFactorResets,
  "account-deletions": eraseDueAccounts,
};
const sweepsOfStripe = ["reconcile", "grace-periods", "full-check"] as const satisfies SweepName[];
/** In this order, so that new grants are posted before the ones they replace expire, and the end of a trial is told when its credits are gone. */
const sweepsOfCredits = ["scheduled-grants", "expired-grants", "trials", "renewal-notices"] as const satisfies SweepName[];
/** In a loop of their own, because deleting a large account takes long. */
const sweepsOfAccounts = ["factor-resets", "account-deletions"] as const satisfies SweepName[];

async function ensureSchedules(deps: Deps): Promise<void> {
  await deps.db
    .insertInto("schedules")
    .values(sweepNames.map((name) => ({ name, due_at: deps.clock.now(), leased_until: null, last_run_at: null, last_error: null })))
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
}

export interface Schedules {
  /** Starts no new row, and waits up to `deadlineMs` for the rows being processed. */
  stop(deadlineMs?: number): Promise<void>;
}

async function pause(milliseconds: number, ...sooner: AbortSignal[]): Promise<void> {
  await delay(milliseconds, undefined, { signal: AbortSignal.any(sooner) }).catch(() => {});
}

/** Logs a failure instead of throwing, so that the other sweeps still run. */
async function runIsolated(deps: Deps, sweep: string, stopping: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  if (stopping.aborted) return;
  await work().catch((error: unknown) => deps.log.warn({ err: error, sweep }, "sweep failed, will be tried again"));
}

/** Runs the sweeps that depend on business time. */
async function runBusiness(deps: Deps, stopping: AbortSignal): Promise<void> {
  const failures = new Map<SweepName, number>();
  let wakeUp = new AbortController();
  let ready = false;
  let asking: Promise<void> | undefined;
  let erasing: Promise<void> | undefined;
  deps.clock.onMove(() => wakeUp.abort());

  async function runSweeps(names: readonly SweepName[], due: Readonly<Record<SweepName, Date | null>>, now: Date): Promise<void> {
    for (const name of names) {
      const at = due[name];
      if (at === null || at > now) continue;
      const run = () => runLeased(deps, name, now, failures, stopping, (signal) => sweeps[name](deps, now, signal));
      await runIsolated(deps, name, stopping, run);
    }
  }

  async function runDue(): Promise<void> {
    if (!ready) await ensureSchedules(deps);
    ready = true;
    const now = deps.clock.now();
    const due = await dueInstants(deps.db);
    asking ??= runSweeps(sweepsOfStripe, due, now).finally(() => {
      asking = undefined;
    });
    erasing ??= runSweeps(sweepsOfAccounts, due, now).finally(() => {
      erasing = undefined;
    });
    const answered = new AbortController();
    await Promise.race([asking, pause(headStartMs, answered.signal, stopping)]);
    answered.abort();
    await runSweeps(sweepsOfCredits, due, now);
  }

  while (!stopping.aborted) {
    wakeUp = new AbortController();
    await runDue().catch((error: unknown) => deps.log.warn({ err: error }, "could not read the schedules"));
    await pause(tickMs, wakeUp.signal, stopping);
  }
  await Promise.all([asking, erasing]);
}

async function runWall(deps: Deps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await runIsolated(deps, "orphaned answers", stopping, () => endOrphanedAnswers(deps, stopping));
    await runIsolated(deps, "overdue holds", stopping, () => releaseOverdueHolds(deps, new Date(), stopping));
    await pause(wallSweepEveryMs, stopping);
  }
}

/** Partitions are made and dropped under locks that are waited for 100 ms only, so that nobody waits for them long. Tries until they are free. */
async function whenFree(stopping: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable || tries === lockTries || stopping.aborted) throw error;
      await pause(lockRetryMs, stopping);
    }
  }
}

/** Runs the hourly sweeps, which need neither Stripe nor business time. */
async function runHourly(deps: Deps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await runIsolated(deps, "log partitions to come", stopping, () => whenFree(stopping, () => addLogPartitions(deps, stopping)));
    await runIsolated(deps, "log partitions past their limit", stopping, () => whenFree(stopping, () => dropLogPartitions(deps, stopping)));
    await sweepRetention(deps, stopping);
    await runIsolated(deps, "unused pictures", stopping, () => deleteUnusedAvatars(deps, stopping));
    await runIsolated(deps, "books", stopping, () =>
      checkBooks(deps, stopping, (wallets) => checkDoubledGrants({ deps, by: "hourly" }, wallets)),
    );
    await runIsolated(deps, "trials and their credits", stopping, () => checkTrials(deps));
    await runIsolated(deps, "ends of models", stopping, () => tellOfEndings(deps, stopping));
    await pause(hourMs, stopping);
  }
}

/** Adds up the figures of the business. In a loop of its own: after an outage it has much to do. */
async function runFigures(deps: Deps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await runIsolated(deps, "figures", stopping, () => addUp(deps.db, { signal: stopping }));
    await pause(minuteMs, stopping);
  }
}

/** Asks providers for their lists. In a loop of its own: they may hang, and one that can't be read is asked again within the hour. */
async function runLists(deps: Deps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await runIsolated(deps, "lists of models", stopping, () => checkModelLists(deps, stopping));
    await pause(listsEveryMs, stopping);
  }
}

export function startSchedules(deps: Deps): Schedules {
  const stopping = new AbortController();
  const running = Promise.all([runBusiness, runWall, runHourly, runLists, runFigures].map((run) => run(deps, stopping.signal)));
  return {
    async stop(deadlineMs) {
      stopping.abort();
      const ended = new AbortController();
      await Promise.race([running, ...(deadlineMs === undefined ? [] : [pause(deadlineMs, ended.signal)])]);
      ended.abort();
    },
  };
}
