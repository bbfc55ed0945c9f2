/**
 * Sweeps do work that has become due with time. They read it from rows, so that moving the sandbox's clock, an outage and a
 * lost queue need no code of their own. Business sweeps run when they are due, and at once when the sandbox moves the clock;
 * the others run at a fixed pace of this machine's time. A lease ensures that only one worker at a time runs a business sweep.
 * Each sweep has a loop of its own, so that none waits for another; those whose order matters share one.
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
 * How long the sweeps of credits wait for those that ask Stripe. Stripe usually answers at once, and its answer may end a
 * subscription before the next month's credits are posted. If Stripe hangs, the sweeps of credits go on without it.
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
/** They run in this order: new grants are posted before those they replace expire, and a trial's credits are gone when its end is told. */
const ordered = ["scheduled-grants", "expired-grants", "trials"] as const satisfies SweepName[];
const independent = [
  "reconcile",
  "grace-periods",
  "renewal-notices",
  "full-check",
  "factor-resets",
  "account-deletions",
] as const satisfies SweepName[];
/** The ordered ones wait for these a while. */
const askingStripe = ["reconcile", "grace-periods"] as const satisfies SweepName[];

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
  const running = new Map<SweepName | "ordered", Promise<void>>();
  let wakeUp = new AbortController();
  let ready = false;
  deps.clock.onMove(() => wakeUp.abort());

  async function runSweep(name: SweepName, dueAt: Date | null, now: Date): Promise<void> {
    if (dueAt === null || dueAt > now) return;
    const run = () => runLeased(deps, name, now, failures, stopping, (signal) => sweeps[name](deps, now, signal));
    await runIsolated(deps, name, stopping, run);
  }

  function begin(name: SweepName | "ordered", work: () => Promise<void>): void {
    if (running.has(name)) return;
    const done = work().finally(() => running.delete(name));
    running.set(name, done);
  }

  async function runDue(): Promise<void> {
    if (!ready) await ensureSchedules(deps);
    ready = true;
    const now = deps.clock.now();
    const due = await dueInstants(deps.db);
    for (const name of independent) begin(name, () => runSweep(name, due[name], now));
    begin("ordered", async () => {
      const answered = new AbortController();
      const asked = Promise.all(askingStripe.map((name) => running.get(name)));
      await Promise.race([asked, pause(headStartMs, answered.signal, stopping)]);
      answered.abort();
      for (const name of ordered) await runSweep(name, due[name], now);
    });
  }

  while (!stopping.aborted) {
    wakeUp = new AbortController();
    await runDue().catch((error: unknown) => deps.log.warn({ err: error }, "could not read the schedules"));
    await pause(tickMs, wakeUp.signal, stopping);
  }
  await Promise.all(running.values());
}

/** Making and dropping partitions waits 100 ms at most for its locks, so that nobody waits long behind it. Tries until they are free. */
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

interface PacedSweep {
  name: string;
  everyMs: number;
  run: (deps: Deps, stopping: AbortSignal) => Promise<unknown>;
}

/** The sweeps of this machine's time. */
const paced: readonly PacedSweep[] = [
  { name: "orphaned answers", everyMs: wallSweepEveryMs, run: endOrphanedAnswers },
  { name: "overdue holds", everyMs: wallSweepEveryMs, run: (deps, stopping) => releaseOverdueHolds(deps, new Date(), stopping) },
  { name: "log partitions to come", everyMs: hourMs, run: (deps, stopping) => whenFree(stopping, () => addLogPartitions(deps, stopping)) },
  {
    name: "log partitions past their limit",
    everyMs: hourMs,
    run: (deps, stopping) => whenFree(stopping, () => dropLogPartitions(deps, stopping)),
  },
  { name: "retention", everyMs: hourMs, run: sweepRetention },
  { name: "unused pictures", everyMs: hourMs, run: deleteUnusedAvatars },
  {
    name: "books",
    everyMs: hourMs,
    run: (deps, stopping) => checkBooks(deps, stopping, (wallets) => checkDoubledGrants({ deps, by: "hourly" }, wallets)),
  },
  { name: "trials and their credits", everyMs: hourMs, run: checkTrials },
  { name: "ends of models", everyMs: hourMs, run: tellOfEndings },
  // After an outage it has much to do.
  { name: "figures", everyMs: minuteMs, run: (deps, stopping) => addUp(deps.db, { signal: stopping }) },
  // Providers may hang, and a list that can't be read is asked for again within the hour.
  { name: "lists of models", everyMs: listsEveryMs, run: checkModelLists },
];

/** How many sweeps may run at the same time, each with one connection to PostgreSQL. */
export const sweepsAtOnce = independent.length + 1 + paced.length;

/** At a worker's start the sweeps begin one after the other: mostly each is done before the next one needs a connection. */
const staggerMs = 100;

async function runPaced(deps: Deps, { name, everyMs, run }: PacedSweep, place: number, stopping: AbortSignal): Promise<void> {
  await pause(place * staggerMs, stopping);
  while (!stopping.aborted) {
    await runIsolated(deps, name, stopping, () => run(deps, stopping));
    await pause(everyMs, stopping);
  }
}

export function startSchedules(deps: Deps): Schedules {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = Promise.all([runBusiness(deps, signal), ...paced.map((sweep, place) => runPaced(deps, sweep, place, signal))]);
  return {
    async stop(deadlineMs) {
      stopping.abort();
      const ended = new AbortController();
      await Promise.race([running, ...(deadlineMs === undefined ? [] : [pause(deadlineMs, ended.signal)])]);
      ended.abort();
    },
  };
}
