/**
 * One clip, from its turn in the queue to its end. The provider is asked once: its name for the job is stored before anything else happens, and
 * whoever finds a job of which nobody knows whether it was asked for ends it uncharged. Everything after that may happen again, in any process.
 */
import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "#domain/errors.ts";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { Model } from "#domain/models.ts";
import type { ClipOptions, ClipPart } from "../../contract/generations/media.ts";
import type { ClipJob, GenerationRow } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import { failureKind } from "../../failures.ts";
import { faultPoint } from "../../fault-points.ts";
import { ClipLost, ModelOutage } from "../../providers/models/protocol.ts";
import { tellPause } from "../catalogue/pauses.ts";
import { soldModel } from "../catalogue/service.ts";
import type { DownloadTimings } from "./clip-download.ts";
import { downloadClip } from "./clip-download.ts";
import { endClip, selectOwner } from "./clip-end.ts";
import { markWorking, putBack, selectAgeMs, tellProgress } from "./clip-queue.ts";
import { readFirstPicture } from "./references.ts";
import { failureOf, filterReasonOf } from "./upstream.ts";

export interface ClipJobTimings {
  /** How often the provider is asked how far it is. */
  checkMs: number;
  /** How long a clip may take once it was begun. */
  workMs: number;
  download: DownloadTimings;
  /** How often in a row the provider may fail to say how far it is, and the file to arrive. */
  failuresAllowed: number;
  /** The pause after the provider has turned a request away; it doubles. */
  againMs: number;
}

const longestAgainMs = 60_000;
const writeAgainMs = 500;

/** What the person is told, and why it failed. */
class Failed extends Error {
  readonly code: string;
  readonly filterReason: FilterReason | null;
  /** What the provider charges anyway; null if it did not say. */
  readonly costMicroDollars: number | null;
  constructor(code: string, cause?: unknown, costMicroDollars: number | null = null) {
    super(code, { cause });
    this.code = code;
    this.costMicroDollars = costMicroDollars;
    this.filterReason = filterReasonOf(code, cause);
  }
}

interface Work {
  deps: Deps;
  owner: string;
  job: ClipJob;
  row: GenerationRow;
  model: Model;
  options: ClipOptions;
  timings: ClipJobTimings;
  /** Aborted when this process stops, or has lost the job to another one. */
  stopping: AbortSignal;
}

/** Writes until it is written: what the provider has begun must not be forgotten. */
async function persistently<T>({ deps, stopping }: Work, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (stopping.aborted || failureKind(error) !== "outage") throw error;
      deps.log.warn({ err: error }, "a clip that was begun could not be written down yet");
      await delay(writeAgainMs, undefined, { signal: stopping });
    }
  }
}

/** Returns the provider's name for the job; undefined if the job waits again, or is another process's now. */
async function begin(work: Work): Promise<string | undefined> {
  const { deps, owner, job, model, options, timings, stopping } = work;
  const { generation_id: id, user_id: userId, prompt } = job;
  const again = (pauseMs: number) => putBack(deps.db, owner, id, pauseMs);
  const outMs = deps.models.waitMs(model, userId);
  if (outMs > 0) {
    await again(outMs);
    return undefined;
  }
  const picture = await readFirstPicture(deps, userId, options.reference).catch((error: unknown) => {
    throw new Failed("reference_unreadable", error);
  });
  const wish = { prompt, seconds: options.seconds, shape: options.shape, ...(picture && { picture }) };
  let requestId: string;
  try {
    // A request that was sent is waited for, also while this process stops.
    requestId = await deps.models.startClip(model, userId, wish, new AbortController().signal);
  } catch (error) {
    if (failureKind(error) === "outage") {
      deps.models.report(model, userId, false);
      await tellPause(deps, model);
    }
    if (!(error instanceof ModelOutage) || error.code !== "provider_rate_limited") throw new Failed(failureOf(error), error);
    await again(Math.max(error.againAfterMs ?? 0, Math.min(timings.againMs * 2 ** job.refusals, longestAgainMs)));
    return undefined;
  }
  deps.models.report(model, userId, true);
  faultPoint("clip-begun");
  const progress = { state: "working", place: null, percent: null, startedAt: job.started_at?.toISOString() ?? null } as const;
  const isOurs = await persistently(work, () => markWorking(deps.db, owner, id, { requestId, progress }));
  return isOurs || stopping.aborted ? requestId : undefined;
}

interface Finished {
  url: string;
  costMicroDollars: number | null;
}

/** Asks until the clip is finished. An address of its file works for a short time only, so a new one is asked for whenever it is needed. */
async function untilFinished(work: Work, requestId: string, tell: (percent: number) => Promise<void>): Promise<Finished> {
  const { deps, job, model, timings, stopping } = work;
  for (let failures = 0; ; ) {
    try {
      const found = await deps.models.checkClip(model, requestId, stopping);
      failures = 0;
      if (found.state === "done") return found;
      if (found.state === "failed") throw new Failed(found.error.code, found.error, found.costMicroDollars);
      if (found.percent !== null) await tell(found.percent);
    } catch (error) {
      stopping.throwIfAborted();
      failures += 1;
      if (error instanceof Failed || failures >= timings.failuresAllowed)
        throw error instanceof Failed ? error : new Failed(failureOf(error), error);
    }
    if ((await selectAgeMs(deps.db, job.generation_id)) > timings.workMs) throw new Failed("provider_timeout");
    await delay(timings.checkMs, undefined, { signal: stopping });
  }
}

async function fetchFinished(work: Work, requestId: string): Promise<{ clip: ClipPart; costMicroDollars: number | null } | undefined> {
  const { deps, owner, job, row, model, timings, stopping } = work;
  const { generation_id: id, user_id: userId, prompt } = job;
  const startedAt = job.started_at?.toISOString() ?? null;
  let told = job.percent ?? -1;
  const tell = async (percent: number) => {
    if (percent <= told) return;
    told = percent;
    await tellProgress(deps.db, owner, id, { state: "working", place: null, percent, startedAt });
  };
  for (let attempt = 1; ; attempt += 1) {
    const { url, costMicroDollars } = await untilFinished(work, requestId, tell);
    if ((await selectOwner(deps.db, id))?.erased_at !== null) return undefined;
    if (attempt === 1) await tellProgress(deps.db, owner, id, { state: "downloading", place: null, percent: null, startedAt });
    try {
      const clip = await downloadClip(deps, { model, url, userId, generationId: row.id, prompt }, timings.download, stopping);
      return { clip, costMicroDollars };
    } catch (error) {
      stopping.throwIfAborted();
      if (error instanceof DomainError && error.code === "generation_ended") return undefined;
      const isProviders = error instanceof ModelOutage;
      if (!isProviders) deps.log.warn({ err: error, generation: id }, "a clip could not be stored");
      // Whatever was wrong with the file, the transfer may have caused it, so try again.
      if (attempt >= timings.failuresAllowed)
        throw new Failed(isProviders && !(error instanceof ClipLost) ? error.code : "clip_not_kept", error, costMicroDollars);
      await delay(timings.checkMs, undefined, { signal: stopping });
    }
  }
}

function logFailure({ deps, job, model }: Work, { code, cause }: Failed): void {
  const details = { generation: job.generation_id, model: model.id, code };
  if (cause !== undefined && failureKind(cause) === "bug") deps.log.error({ ...details, err: cause }, "a clip could not be made");
  else deps.log.info({ ...details, reason: cause instanceof Error ? cause.message : undefined }, "a clip failed");
}

async function make(work: Work): Promise<void> {
  const { deps, owner, job } = work;
  const { generation_id: id } = job;
  const nothing = { clip: null, costMicroDollars: null };
  try {
    const requestId = job.request_id ?? (await begin(work));
    if (requestId === undefined) return;
    const made = await fetchFinished(work, requestId);
    if (made) await persistently(work, () => endClip(deps, id, owner, { status: "completed", failureCode: null, ...made }));
    else await endClip(deps, id, owner, { status: "stopped", failureCode: null, ...nothing });
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    logFailure(work, error);
    const { code: failureCode, filterReason, costMicroDollars } = error;
    await persistently(work, () => endClip(deps, id, owner, { ...nothing, status: "failed", failureCode, filterReason, costMicroDollars }));
  }
}

/** Throws if PostgreSQL can't be reached, or this process stops: then another one, or a later try, goes on from what is stored. */
export async function runClipJob(
  deps: Deps,
  owner: string,
  job: ClipJob,
  isTakenOver: boolean,
  timings: ClipJobTimings,
  stopping: AbortSignal,
): Promise<void> {
  const row = await selectOwner(deps.db, job.generation_id);
  const options = (row?.options as { clip?: ClipOptions } | null)?.clip;
  const model = row && soldModel(deps, row.model_id);
  const ended = { status: "failed", failureCode: "interrupted", clip: null, costMicroDollars: null } as const;
  // Nobody knows whether the provider was asked. It is not asked again.
  if (!row || !options || !model || (isTakenOver && job.request_id === null)) {
    await endClip(deps, job.generation_id, owner, ended);
    return;
  }
  if ((await selectAgeMs(deps.db, job.generation_id)) > timings.workMs) {
    await endClip(deps, job.generation_id, owner, { ...ended, failureCode: "provider_timeout" });
    return;
  }
  await make({ deps, owner, job, row, model, options, timings, stopping });
}
