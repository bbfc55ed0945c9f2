import type { Model } from "#domain/models.ts";
import { Feed } from "../../http/event-stream.ts";
import type { ChatMessage } from "./history.ts";
import type { EndRow, LogBatch, StartRow } from "./queries.ts";
import type { UpstreamEnd } from "./upstream.ts";

/** An answer that is held and written down, about to be asked for. */
export interface AnswerStart {
  id: string;
  userId: string;
  conversationId: string;
  model: Model;
  messages: readonly ChatMessage[];
  heldCredits: number;
  trimmedMessages: number;
  /** Wall time. */
  leaseExpiresAt: Date;
  holdDeadline: Date;
  /** As it was written down. */
  row: StartRow;
}

export type Outcome = Pick<EndRow, "status" | "failureCode" | "chargedCredits" | "promptTokens" | "completionTokens">;

/** Words that come faster than one can read go out together: the first at once, the next no sooner than this. */
const frameGapMs = 15;

/** One answer under way in this process. */
export class RunningAnswer {
  readonly start: AnswerStart;
  readonly feed = new Feed();
  readonly controller = new AbortController();
  leaseExpiresAtMs: number;
  text = "";
  /** Its end is being written: what happens from here on comes too late. */
  ending = false;
  private interruption: "stopped" | "interrupted" | undefined;
  private loggedEvents = 0;
  /** Text that is not in the feed yet. */
  private gathered = "";
  private lastFrameAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;

  constructor(start: AnswerStart) {
    this.start = start;
    this.leaseExpiresAtMs = start.leaseExpiresAt.getTime();
    this.feed.push("start", {
      generationId: start.id,
      conversationId: start.conversationId,
      modelId: start.model.id,
      heldCredits: start.heldCredits,
      trimmedMessages: start.trimmedMessages,
    });
  }

  add(text: string): void {
    // What arrives after a stop was neither asked for nor shown.
    if (this.interruption) return;
    this.text += text;
    this.gathered += text;
    const waitMs = this.lastFrameAt + frameGapMs - performance.now();
    if (waitMs <= 0) this.tellText();
    else this.timer ??= setTimeout(() => this.tellText(), waitMs);
  }

  /** Puts what is gathered into the feed. */
  tellText(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.gathered === "") return;
    const text = this.gathered;
    this.gathered = "";
    this.lastFrameAt = performance.now();
    this.feed.push("delta", { text });
  }

  /** `stopped` by the person, or `interrupted` on our side. The first counts. */
  interrupt(interruption: "stopped" | "interrupted"): void {
    if (this.ending || this.interruption) return;
    this.interruption = interruption;
    this.controller.abort();
  }

  /** The fairness rule (decisions.md): full price when complete or stopped after output, nothing otherwise. */
  outcome(end: UpstreamEnd): Outcome {
    const { promptTokens, completionTokens } = end;
    const full = this.start.heldCredits;
    if (end.failure === undefined && this.interruption === undefined)
      return { status: "completed", failureCode: null, chargedCredits: full, promptTokens, completionTokens };
    if (this.interruption === "stopped")
      return { status: "stopped", failureCode: null, chargedCredits: this.text === "" ? 0 : full, promptTokens, completionTokens };
    const failureCode = this.interruption ?? end.failure ?? null;
    return { status: "failed", failureCode, chargedCredits: 0, promptTokens, completionTokens };
  }

  /** What the log does not have yet. */
  unlogged(): LogBatch | undefined {
    const { frames } = this.feed;
    if (this.loggedEvents === frames.length) return undefined;
    return {
      generationId: this.start.id,
      firstEvent: this.loggedEvents + 1,
      lastEvent: frames.length,
      frames: frames.slice(this.loggedEvents).join(""),
    };
  }

  logged(batch: LogBatch): void {
    this.loggedEvents = batch.lastEvent;
  }

  /** Nothing of it is in the log: all of it has to go there again. */
  unlog(): void {
    this.loggedEvents = 0;
  }
}
