/**
 * The answers this process is writing. For each it asks the model once and follows it to the end, whether or not anybody reads the stream.
 * It writes the events of all answers to the log in shared batches, and each end in one transaction. The log and the rows are the truth;
 * the copy in memory saves reading them.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Deps } from "../../deps.ts";
import { failureKind } from "../../failures.ts";
import { faultPoint } from "../../fault-points.ts";
import type { Feed } from "../../http/event-stream.ts";
import { formatEvent } from "../../http/event-stream.ts";
import { announce, announceToEach } from "../../http/live-events.ts";
import { toStoredOptions } from "./answer-options.ts";
import type { AnswerTimings } from "./ask-for.ts";
import { askFor } from "./ask-for.ts";
import type { AnswerBatches } from "./batches.ts";
import { createAnswerBatches } from "./batches.ts";
import { writeStartAgain } from "./forgotten.ts";
import { LogFollowers } from "./log-followers.ts";
import * as queries from "./queries.ts";
import { toReceipt } from "./receipt.ts";
import type { AnswerStart } from "./running-answer.ts";
import { RunningAnswer } from "./running-answer.ts";

const defaultTimings: AnswerTimings = {
  firstTokenMs: 30_000,
  idleMs: 20_000,
  totalMs: 8 * 60_000,
  pictures: { firstTokenMs: 4 * 60_000, idleMs: 60_000, totalMs: 7 * 60_000 },
  sounds: { firstTokenMs: 6 * 60_000, idleMs: 60_000, totalMs: 8 * 60_000 },
  flushMs: 200,
  leaseMs: 15_000,
  holdMs: 10 * 60_000,
  followMs: 250,
  shutdownMs: 0,
  retryMs: 250,
};

/**
 * If another process has to end an answer, its readers may have seen events that never reached the log. So the receipt's number is this
 * far above the last event in the log.
 */
export const lostEventsGap = 1_000_000;

export interface Answers {
  /** Names this process on the leases of its answers. */
  readonly owner: string;
  readonly timings: AnswerTimings;
  readonly closing: boolean;
  readonly batches: AnswerBatches;
  /** Asks the model for an answer whose start is written: its credits are held. */
  begin(start: AnswerStart): Feed;
  /** The answer's events, from memory or from the log. Throws when the log can't be read. */
  follow(generationId: string): Promise<Feed>;
  /** Stops the answer if this process writes it. */
  stop(generationId: string): void;
  /** Resolves when no answer is running, not even one that began meanwhile, or after `timeoutMs`. */
  untilNoneRuns(timeoutMs: number): Promise<void>;
  /** Lets answers finish for a while. Then it interrupts the rest, and those that begin after that, without a charge. */
  close(): Promise<void>;
}

/** How long the process waits at shutdown until the ends of interrupted answers are written. */
const lastEndsMs = 2_000;
/** Other pages learn of an answer this much later than it begins: answers that begin meanwhile go first. */
const tellStartMs = 50;
/** A lease is renewed once this share of it is over. */
const leaseShare = 1 / 3;

class AnswerEngine implements Answers {
  readonly owner = randomUUID();
  readonly timings: AnswerTimings;
  readonly batches: AnswerBatches;
  closing = false;
  private readonly deps: Deps;
  private readonly running = new Map<string, RunningAnswer>();
  private readonly followers: LogFollowers;
  private flushTimer: NodeJS.Timeout | undefined;
  /** The flush under way, or the last one. Never rejects. */
  private flushing: Promise<void> = Promise.resolve();
  private closed: Promise<void> | undefined;
  /** Running answers, and those that begin now, are interrupted. */
  private interrupting = false;
  private gaveUp = false;

  constructor(deps: Deps, timings: AnswerTimings) {
    this.deps = deps;
    this.timings = timings;
    this.batches = createAnswerBatches(deps.db, deps.starts, deps.arrivals);
    this.followers = new LogFollowers(deps, timings.followMs);
  }

  begin(start: AnswerStart): Feed {
    faultPoint("answer-held");
    const answer = new RunningAnswer(start, () => this.running.size);
    this.running.set(start.id, answer);
    if (this.interrupting) answer.interrupt("interrupted");
    void this.run(answer);
    this.scheduleFlush();
    return answer.feed;
  }

  async follow(generationId: string): Promise<Feed> {
    return this.running.get(generationId)?.feed ?? this.followers.follow(generationId);
  }

  stop(generationId: string): void {
    this.running.get(generationId)?.interrupt("stopped");
  }

  close(): Promise<void> {
    this.closed ??= this.shutDown();
    return this.closed;
  }

  private async shutDown(): Promise<void> {
    this.closing = true;
    await this.untilNoneRuns(this.timings.shutdownMs);
    this.interrupting = true;
    for (const answer of this.running.values()) answer.interrupt("interrupted");
    await this.untilNoneRuns(lastEndsMs);
    // PostgreSQL can't be reached, so the remaining answers could not be written. Another process ends them when their leases end.
    this.gaveUp = true;
    clearTimeout(this.flushTimer);
    for (const answer of this.running.values()) answer.feed.close();
    this.followers.close();
  }

  async untilNoneRuns(timeoutMs: number): Promise<void> {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const [answer] = this.running.values();
      const leftMs = end - performance.now();
      if (!answer || leftMs <= 0) return;
      await answer.feed.untilClosed(leftMs);
    }
  }

  private async run(answer: RunningAnswer): Promise<void> {
    const { userId } = answer.start;
    // The person's other pages show the question, and all pages the balance without the held credits.
    const telling = setTimeout(() => void announce(this.deps, userId, "wallets", "generations"), tellStartMs);
    const end = await askFor(this.deps, this.timings, answer);
    answer.start.leaveRoom?.();
    answer.tellText();
    const outcome = answer.outcome(end);
    answer.ending = true;
    if (outcome.failureCode) this.logFailure(answer, outcome.failureCode, end.error);
    const row = await this.writeEnd(answer, outcome);
    faultPoint("answer-ended");
    this.running.delete(answer.start.id);
    clearTimeout(telling);
    if (!row) return answer.feed.close();
    const asked = answer.start.row.options;
    const ours = row.status === outcome.status && row.failure_code === outcome.failureCode;
    const id = answer.feed.frames.length + 1 + (ours ? 0 : lostEventsGap);
    answer.feed.close({ id, frame: formatEvent(id, "receipt", toReceipt({ ...row, options: asked ? toStoredOptions(asked) : null })) });
    await Promise.all([
      announce(this.deps, userId, "generations"),
      announceToEach(this.deps, this.batches.members(row.payer_id), "wallets"),
    ]);
  }

  private logFailure({ start }: RunningAnswer, code: string, error: unknown): void {
    const details = { generation: start.id, model: start.model.id, code };
    if (error !== undefined && failureKind(error) === "bug") this.deps.log.error({ ...details, err: error }, "a model could not be asked");
    else this.deps.log.info({ ...details, reason: error instanceof Error ? error.message : undefined }, "answer failed");
  }

  /** Writes output, capture and receipt in one transaction. Tries again until the hold's deadline, so that a finished answer is not lost. */
  private async writeEnd(answer: RunningAnswer, outcome: ReturnType<RunningAnswer["outcome"]>) {
    const { id, userId, askedAtMs } = answer.start;
    for (;;) {
      try {
        const now = this.deps.clock.now();
        const { kinds } = await this.batches.entitlement(userId, now);
        const row = await this.batches.end({
          id,
          owner: this.owner,
          ...outcome,
          parts: answer.parts,
          firstTextMs: answer.firstTextMs,
          lastFrames: answer.unlogged(),
          kinds: kinds(true),
          now,
        });
        if (row) return row;
        // The flush under way may contain this answer's text, and would write it a second time to the restored log.
        await this.flushing;
        if (!(await this.restore(answer))) return undefined;
      } catch (error) {
        this.deps.log.error({ err: error, generation: id }, "the end of an answer could not be written");
        if (this.gaveUp || performance.now() > askedAtMs + this.timings.holdMs) return undefined;
        await delay(this.timings.retryMs);
      }
    }
  }

  private scheduleFlush(): void {
    if (this.flushTimer || this.gaveUp || this.running.size === 0) return;
    this.flushTimer = setTimeout(async () => {
      this.flushing = this.flush([...this.running.values()]).catch((error: unknown) =>
        this.deps.log.warn({ err: error }, "the stream log could not be written"),
      );
      await this.flushing;
      this.flushTimer = undefined;
      this.scheduleFlush();
    }, this.timings.flushMs);
  }

  private async flush(answers: readonly RunningAnswer[]): Promise<void> {
    const { db } = this.deps;
    const pending = answers.flatMap((answer) => {
      const batch = answer.ending ? undefined : answer.unlogged();
      return batch ? [{ answer, batch }] : [];
    });
    if (pending.length > 0) {
      const batches = pending.map(({ batch }) => batch);
      // Read it now: text that arrives during the insert is not in the batches.
      const hasText = pending.some(({ answer }) => answer.text !== "");
      await queries.insertLog(db, this.owner, batches);
      for (const { answer, batch } of pending) answer.logged(batch);
      if (hasText) faultPoint("answer-streaming");
    }
    await this.renewLeases(answers);
    for (const { id, status } of await queries.selectInterruptions(
      db,
      answers.map((answer) => answer.start.id),
    )) {
      const answer = this.running.get(id);
      if (status !== null) answer?.interrupt(status === "streaming" ? "stopped" : "interrupted");
      else if (answer && !answer.ending && !(await this.restore(answer))) answer.interrupt("interrupted");
    }
  }

  /** Writes the start of an answer again after PostgreSQL has lost it. Returns whether that worked. */
  private async restore(answer: RunningAnswer): Promise<boolean> {
    // The log was lost together with the start. Note that first, so that an end written from now on writes the whole log.
    answer.unlog();
    const nowMs = performance.now();
    const holdMs = Math.max(Math.round(answer.start.askedAtMs + this.timings.holdMs - nowMs), 0);
    const restored = await writeStartAgain(this.deps.db, answer.start, holdMs);
    this.deps.log.warn({ generation: answer.start.id, restored }, "PostgreSQL had lost the start of an answer");
    if (!restored) return false;
    answer.leaseTakenAtMs = nowMs;
    return true;
  }

  private async renewLeases(answers: readonly RunningAnswer[]): Promise<void> {
    const { leaseMs } = this.timings;
    const nowMs = performance.now();
    const due = answers.filter((answer) => nowMs - answer.leaseTakenAtMs > leaseMs * leaseShare);
    if (due.length === 0) return;
    await queries.renewLeases(
      this.deps.db,
      this.owner,
      due.map((answer) => answer.start.id),
      leaseMs,
    );
    for (const answer of due) answer.leaseTakenAtMs = nowMs;
  }
}

/** One per process. */
export function createAnswers(deps: Deps, timings: Partial<AnswerTimings> = {}): Answers {
  return new AnswerEngine(deps, { ...defaultTimings, ...timings });
}
