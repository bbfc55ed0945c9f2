import type { Static } from "typebox";
import { dayMs } from "#domain/clock.ts";
import type { ClockState } from "../../contract/clock.ts";
import type { Executor } from "../../db/transaction.ts";
import * as queries from "./queries.ts";
import type { SweepName } from "./sweeps.ts";

/**
 * Reconciliation runs every hour. When the sandbox moves the clock, nothing happens between two stops, so there is nothing to reconcile: the
 * clock stops for it only once a day. It also runs at every other stop, because it is overdue there.
 */
const reconcileStepMs = dayMs;

export async function dueInstants(executor: Executor): Promise<Record<SweepName, Date | null>> {
  return queries.selectDueInstants(executor);
}

/** Business time as stored in the database, the next stop of a moving clock, and the number of pending events and jobs. */
export async function readClock(executor: Executor): Promise<Static<typeof ClockState>> {
  const now = Date.now() + (await queries.selectOffset(executor));
  const due = await queries.selectDueInstants(executor);
  const stops = Object.entries(due).flatMap(([name, at]) => {
    if (at === null) return [];
    const ms = at.getTime();
    return [name === "reconcile" && ms > now ? ms + reconcileStepMs : ms];
  });
  const overdue = Object.values(due).filter((at) => at !== null && at.getTime() <= now).length;
  return {
    now: new Date(now).toISOString(),
    nextDueAt: stops.length > 0 ? new Date(Math.min(...stops)).toISOString() : null,
    pending: (await queries.countPendingWork(executor)) + overdue,
  };
}

/** Moves business time forward to `target`; an earlier instant changes nothing. */
export async function moveClock(executor: Executor, target: Date): Promise<Static<typeof ClockState>> {
  await queries.updateOffset(executor, target.getTime() - Date.now());
  return readClock(executor);
}
