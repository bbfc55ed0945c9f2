/**
 * Work that time makes due, swept from rows: moving the clock, an outage and a lost queue are all the same case. Business
 * sweeps run at their due instants, at once when the sandbox moves the clock; wall-time sweeps every few seconds. A lease
 * per sweep lets one worker at a time run it. What asks Stripe, what moves credits, what wall time makes due and what deletes
 * have a loop each, so that none waits for another.
 */

import { setTimeout as delay } from "node:timers/promises";
import { addMilliseconds, hourMs } from "#domain/clock.ts";
import type { Deps } from "#server/deps.ts";
import { reconcileBilling } from "#server/features/billing/reconcile.ts";
import { endGracePeriods, postDueScheduledGrants } from "#server/features/billing/schedules.ts";
import { dueInstants } from "#server/features/clock/service.ts";
import type { SweepName } from "#server/features/clock/sweeps.ts";
import { sweepNames } from "#server/features/clock/sweeps.ts";
import { checkBooks } from "#server/features/credits/check-books.ts";
import { expireDueGrants, releaseOverdueHolds } from "#server/features/credits/service.ts";
import { endOrphanedAnswers } from "#server/features/generations/orphans.ts";
import { sweepRetention } from "#server/features/retention/service.ts";
import { runLeased } from "./leases.ts";

const tickMs = 500;
const wallSweepEveryMs = 5_000;
/**
 * Months are posted and credits expire once Stripe has said what ended meanwhile, which it does at once. A Stripe that does not
 * answer is waited for no longer than this.
 */
const headStartMs = 5_000;
const reconcileEveryMs = hourMs;

async function reconcile(deps: Deps, now: Date, signal: AbortSignal): Promise<void> {
  const dueAt = (await dueInstants(deps.db)).reconcile ?? now;
  const { repaired } = await reconcileBilling(deps, addMilliseconds(dueAt, -reconcileEveryMs), signal);
  if (repaired > 0) deps.log.warn({ repaired }, "reconciliation found events we had not been told of");
  await deps.db
    .updateTable("schedules")
    .set({ due_at: addMilliseconds(now, reconcileEveryMs) })
    .where("name", "=", "reconcile")
    .execute();
}

const sweeps: Readonly<Record<SweepName, (deps: Deps, now: Date, signal: AbortSignal) => Promise<unknown>>> = {
  reconcile,
  "scheduled-grants": postDueScheduledGrants,
  "grace-periods": endGracePeriods,
  "expired-grants": expireDueGrants,
};
const sweepsOfStripe = ["reconcile", "grace-periods"] as const satisfies SweepName[];
/** In this order: grants before the expiry of what they replace. */
const sweepsOfCredits = ["scheduled-grants", "expired-grants"] as const satisfies SweepName[];

async function ensureSchedules(deps: Deps): Promise<void> {
  await deps.db
    .insertInto("schedules")
    .values(sweepNames.map((name) => ({ name, due_at: deps.clock.now(), leased_until: null, last_run_at: null, last_error: null })))
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
}

export interface Schedules {
  /** Begins no row any more, and waits for those under way, up to `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>;
}

async function pause(milliseconds: number, ...sooner: AbortSignal[]): Promise<void> {
  await delay(milliseconds, undefined, { signal: AbortSignal.any(sooner) }).catch(() => {});
}

/** One that fails keeps none of the others. */
async function onItsOwn(deps: Deps, sweep: string, stopping: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  if (stopping.aborted) return;
  await work().catch((error: unknown) => deps.log.warn({ err: error, sweep }, "sweep failed, will be tried again"));
}

/** What business time makes due. */
async function runBusiness(deps: Deps, stopping: AbortSignal): Promise<void> {
  const failures = new Map<SweepName, number>();
  let wakeUp = new AbortController();
  let ready = false;
  let asking: Promise<void> | undefined;
  deps.clock.onMove(() => wakeUp.abort());

  async function runSweeps(names: readonly SweepName[], due: Readonly<Record<SweepName, Date | null>>, now: Date): Promise<void> {
    for (const name of names) {
      const at = due[name];
      if (at === null || at > now) continue;
      const run = () => runLeased(deps, name, now, failures, stopping, (signal) => sweeps[name](deps, now, signal));
      await onItsOwn(deps, name, stopping, run);
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
    const answered = new AbortController();
    await Promise.race([asking, pause(headStartMs, answered.signal, stopping)]);
    answered.abort();
    await runSweeps(sweepsOfCredits, due, now);
  }

  while (!stopping.aborted) {
    wakeUp = new AbortController();
    await runDue().catch((error: unknown) => deps.log.warn({ err: error }, "schedules could not be read"));
    await pause(tickMs, wakeUp.signal, stopping);
  }
  await asking;
}

async function runWall(deps: Deps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await onItsOwn(deps, "orphaned answers", stopping, () => endOrphanedAnswers(deps, stopping));
    await onItsOwn(deps, "overdue holds", stopping, () => releaseOverdueHolds(deps, new Date(), stopping));
    await pause(wallSweepEveryMs, stopping);
  }
}

/** What waits neither for Stripe nor for business time. */
async function runHourly(deps: Deps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await sweepRetention(deps, stopping);
    await onItsOwn(deps, "books", stopping, () => checkBooks(deps, stopping));
    await pause(hourMs, stopping);
  }
}

export function startSchedules(deps: Deps): Schedules {
  const stopping = new AbortController();
  const running = Promise.all([runBusiness, runWall, runHourly].map((run) => run(deps, stopping.signal)));
  return {
    async stop(deadlineMs) {
      stopping.abort();
      const ended = new AbortController();
      await Promise.race([running, ...(deadlineMs === undefined ? [] : [pause(deadlineMs, ended.signal)])]);
      ended.abort();
    },
  };
}
