/**
 * Looks after the clips of everybody, in as many processes as there are workers. Each takes jobs from the queue, and those of processes that have
 * died: their leases end.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { clipLimits } from "#domain/clips.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { ClipJob } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import { sweepPage, sweepRows } from "../../queue/sweep-rows.ts";
import { endClip } from "./clip-end.ts";
import type { ClipJobTimings } from "./clip-job.ts";
import { runClipJob } from "./clip-job.ts";
import { hasJobs, releaseJob, renewLeases, selectUnwanted, takeNext, takeOver, tellPlaces } from "./clip-queue.ts";

export interface ClipTimings extends ClipJobTimings {
  /** How often the queue is looked at. */
  tickMs: number;
  leaseMs: number;
  queueMs: number;
  /** After an error of ours a job is tried again after this long. */
  retryMs: number;
}

const minuteMs = 60_000;

const defaultTimings: ClipTimings = {
  tickMs: 500,
  leaseMs: 15_000,
  queueMs: clipLimits.queueMinutes * minuteMs,
  workMs: clipLimits.workMinutes * minuteMs,
  retryMs: 5_000,
  checkMs: 2_000,
  againMs: 5_000,
  failuresAllowed: 5,
  download: { idleMs: 30_000, totalMs: 3 * minuteMs },
};

/** How long ending a queued job may wait for a lock, usually of its person's wallet. After that it is tried again after the others. */
const lockWaitMs = 1_000;
/** A lease is renewed once this share of it is over. */
const leaseShare = 1 / 3;

export interface ClipRunner {
  /** Takes no new job, lets another process go on with those that it has, and waits for that up to `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>;
}

class Runner implements ClipRunner {
  private readonly deps: Deps;
  private readonly timings: ClipTimings;
  private readonly owner = randomUUID();
  private readonly stopping = new AbortController();
  private readonly running = new Map<string, { controller: AbortController; done: Promise<void> }>();
  private renewedAtMs = 0;
  private readonly loops: Promise<unknown>;

  constructor(deps: Deps, timings: ClipTimings) {
    this.deps = deps;
    this.timings = timings;
    // Each has a loop of its own: neither the queue nor an end that waits for a lock delays the renewal of leases, and no end the queue.
    this.loops = Promise.all([
      this.repeat(() => this.renew(), "the leases of clips could not be renewed"),
      this.repeat(() => this.lookAtQueue(), "the queue of clips could not be looked at"),
      this.repeat(() => this.endUnwanted(), "clips that nobody waits for could not be ended"),
    ]);
  }

  async stop(deadlineMs = 60_000): Promise<void> {
    this.stopping.abort();
    await this.loops;
    for (const { controller } of this.running.values()) controller.abort();
    const deadline = new AbortController();
    const ended = Promise.all([...this.running.values()].map(({ done }) => done));
    await Promise.race([ended, delay(deadlineMs, undefined, { signal: deadline.signal }).catch(() => {})]);
    deadline.abort();
  }

  private async repeat(work: () => Promise<void>, failed: string): Promise<void> {
    const { log } = this.deps;
    while (!this.stopping.signal.aborted) {
      await work().catch((error: unknown) => log.warn({ err: error }, failed));
      await delay(this.timings.tickMs, undefined, { signal: this.stopping.signal }).catch(() => {});
    }
  }

  private async lookAtQueue(): Promise<void> {
    const { db } = this.deps;
    if (this.running.size === 0 && !(await hasJobs(db))) return;
    const room = clipLimits.atWork - this.running.size;
    const { leaseMs, queueMs } = this.timings;
    for (const job of await takeOver(db, this.owner, leaseMs, room)) this.begin(job, true);
    const next = await inTransaction(db, (trx) => takeNext(trx, this.owner, this.timings, clipLimits.atWork - this.running.size));
    for (const job of next) this.begin(job, false);
    await tellPlaces(db, queueMs);
  }

  private async endUnwanted(): Promise<void> {
    const { deps, timings, stopping } = this;
    if (!(await hasJobs(deps.db))) return;
    await sweepRows(
      deps,
      "unwanted-clips",
      () => selectUnwanted(deps.db, timings.queueMs, sweepPage),
      ({ id }) => id,
      ({ id, stopped }) => {
        const why = stopped
          ? ({ status: "stopped", failureCode: null } as const)
          : ({ status: "failed", failureCode: "queue_too_long" } as const);
        return endClip(deps, id, null, { ...why, clip: null, costMicroDollars: null }, lockWaitMs);
      },
      stopping.signal,
    );
  }

  private begin(job: ClipJob, isTakenOver: boolean): void {
    const { generation_id: id } = job;
    if (this.running.has(id)) return;
    const controller = new AbortController();
    this.running.set(id, { controller, done: this.look(job, isTakenOver, controller.signal) });
  }

  /** Never throws. */
  private async look(job: ClipJob, isTakenOver: boolean, stopping: AbortSignal): Promise<void> {
    const { deps, owner, timings } = this;
    const { generation_id: id } = job;
    try {
      await runClipJob(deps, owner, job, isTakenOver, timings, stopping);
    } catch (error) {
      if (!stopping.aborted) deps.log.warn({ err: error, generation: id }, "a clip is looked at again later");
      await releaseJob(deps.db, owner, id, stopping.aborted ? 0 : timings.retryMs).catch(() => {});
    }
    this.running.delete(id);
  }

  private async renew(): Promise<void> {
    const { leaseMs } = this.timings;
    const nowMs = performance.now();
    if (this.running.size === 0 || nowMs - this.renewedAtMs < leaseMs * leaseShare) return;
    // Others may be begun meanwhile.
    const renewed = [...this.running];
    const ours = await renewLeases(
      this.deps.db,
      this.owner,
      renewed.map(([id]) => id),
      leaseMs,
    );
    this.renewedAtMs = nowMs;
    for (const [id, { controller }] of renewed) if (!ours.has(id)) controller.abort();
  }
}

export function startClipRunner(deps: Deps, timings: Partial<ClipTimings> = {}): ClipRunner {
  return new Runner(deps, { ...defaultTimings, ...timings });
}
