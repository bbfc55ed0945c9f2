/** Clips as xAI makes them: a request starts a job, the caller polls its state, and the file's address expires soon. */
import { randomUUID } from "node:crypto";
import { toMp4 } from "./clip-file.ts";
import { drawFilm } from "./clip-film.ts";
import type { ClipRequest } from "./clips-request.ts";
import type { ModelFault } from "./faults.ts";

interface Job {
  id: string;
  model: string;
  asked: ClipRequest;
  fault: ModelFault | undefined;
  /** Milliseconds per token, of which a clip takes `tokensPerClip`. */
  paceMs: () => number;
  /** From 0 to 1, as of `seenAt`. */
  done: number;
  seenAt: number;
  /** How many addresses of its file were given out. */
  addresses: number;
}

export interface JobAnswer {
  status: number;
  body: object | Buffer;
}

const tokensPerClip = 300;
/** More would fill the memory of a sandbox that runs for weeks. */
const keptJobs = 200;
const lastingAddressMs = 60 * 60_000;
const garbage = Buffer.from([0xff, 0xfe, 0x7b, 0x22, 0x0a]);
/** 0.14 dollars a second and 0.01 for a picture, in ticks of 10⁻¹⁰ dollars. */
const ticksPerSecond = 1_400_000_000;
const ticksPerPicture = 100_000_000;
const halfOf = (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length / 2));

/** The file's bytes, and how the connection that sends them ends. */
export interface ClipDelivery {
  bytes: Buffer;
  ends: "whole" | "breaks" | "hangs";
}

export class ClipJobs {
  /** By their ids, oldest first. */
  private readonly jobs = new Map<string, Job>();
  /** How many jobs were started, for tests of who pays for what. */
  begun = 0;

  begin(model: string, asked: ClipRequest, fault: ModelFault | undefined, paceMs: () => number): string {
    const id = randomUUID();
    this.begun += 1;
    this.jobs.set(id, { id, model, asked, fault, paceMs, done: 0, seenAt: performance.now(), addresses: 0 });
    const [oldest] = this.jobs.keys();
    if (this.jobs.size > keptJobs && oldest !== undefined) this.jobs.delete(oldest);
    return id;
  }

  /** Undefined if there is no such job. */
  stateOf(id: string, origin: string): JobAnswer | undefined {
    const job = this.jobs.get(id);
    if (!job) return undefined;
    const { model, asked, fault } = job;
    const kind = fault?.fault;
    if (kind === "garbage") return { status: 200, body: garbage };
    const progress = this.progressOf(job);
    if (progress < 1 || kind === "hang")
      return { status: 202, body: { status: "pending", model, progress: Math.min(Math.floor(progress * 100), 99) } };
    const none = { duration: 0, respect_moderation: true };
    if (kind === "failed_job") {
      const error = { code: "internal_error", message: "The video could not be generated. (Switched on in the sandbox.)" };
      return { status: 200, body: { status: "failed", model: "", video: none, error } };
    }
    if (kind === "content_filter") return { status: 200, body: { status: "done", model, video: { ...none, respect_moderation: false } } };
    if (kind === "empty") return { status: 200, body: { status: "done", model, video: none } };
    job.addresses += 1;
    const url = `${origin}/files/${id}/${job.addresses}-${Date.now()}.mp4`;
    const usage = { cost_in_usd_ticks: asked.seconds * ticksPerSecond + (asked.first ? ticksPerPicture : 0) };
    const video = { url, duration: asked.seconds, respect_moderation: true };
    return { status: 200, body: { status: "done", model, video, ...(kind !== "no_usage" && { usage }) } };
  }

  /** The file at an address; undefined if the address has ended or never was. */
  fileOf(id: string, name: string): ClipDelivery | undefined {
    const job = this.jobs.get(id);
    const [, number = 0, toldAt = 0] = (/^(\d+)-(\d+)\.mp4$/.exec(name) ?? []).map(Number);
    if (!job || number < 1 || number > job.addresses || Date.now() - toldAt > lastingAddressMs) return undefined;
    const { asked, fault } = job;
    const kind = fault?.fault;
    if (kind === "expired_address" && number <= Math.max(fault?.afterTokens ?? 1, 1)) return undefined;
    const film = drawFilm(asked, asked.seconds, asked.prompt, asked.first && { rgb: asked.first });
    const bytes = toMp4(film);
    if (kind === "half_file") return { bytes: halfOf(bytes), ends: "whole" };
    if (kind === "die_mid_stream") return { bytes: halfOf(bytes), ends: "breaks" };
    if (kind === "slow_first_token") return { bytes: halfOf(bytes), ends: "hangs" };
    return { bytes, ends: "whole" };
  }

  private progressOf(job: Job): number {
    const paceMs = job.paceMs();
    const now = performance.now();
    const whole = paceMs * tokensPerClip;
    job.done = whole === 0 ? 1 : Math.min(1, job.done + (now - job.seenAt) / whole);
    job.seenAt = now;
    return job.done;
  }
}
