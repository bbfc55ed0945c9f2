import type { Model } from "#domain/models.ts";
import { providerCostMicroDollars } from "#domain/provider-prices.ts";
import type { Part, PicturePart, Source, Turn } from "../../contract/generations/generations.ts";
import type { Segment, SoundPart } from "../../contract/generations/sounds.ts";
import { Feed } from "../../http/event-stream.ts";
import type { EndRow } from "./ends.ts";
import type { ChatMessage } from "./history.ts";
import type { LogBatch } from "./queries.ts";
import type { StartRow } from "./starts.ts";
import type { UpstreamEnd } from "./upstream.ts";

/** An answer whose start is written, before the model is asked. */
export interface AnswerStart {
  id: string;
  userId: string;
  model: Model;
  messages: readonly ChatMessage[];
  heldCredits: number;
  trimmedMessages: number;
  /** `performance.now()` just before the start was written. Counted from here, lease and hold end no later than PostgreSQL says. */
  askedAtMs: number;
  /** The row as it was written. */
  row: StartRow;
  /** Gives back the memory that was taken for its files. */
  leaveRoom?: () => void;
}

export type Outcome = Pick<
  EndRow,
  | "status"
  | "failureCode"
  | "filterReason"
  | "cutShort"
  | "chargedCredits"
  | "promptTokens"
  | "completionTokens"
  | "thinkingTokens"
  | "searches"
  | "costMicroDollars"
>;

function turnOf({ turn }: StartRow): Turn | null {
  return turn && { conversationId: turn.conversationId, questionId: turn.questionId, answerId: turn.answerId };
}

/** What an answer has given so far. */
export class Output {
  text = "";
  readonly sources: Source[] = [];
  readonly segments: Segment[] = [];
  /** By their places. */
  readonly pictures: (PicturePart | undefined)[] = [];
  sound: SoundPart | undefined;

  /** Sources and times of nothing are no output, and pictures that failed leave no gap. */
  get parts(): Part[] {
    const { text, sources, segments, pictures, sound } = this;
    if (text === "") return [...pictures.filter((picture) => picture !== undefined), ...(sound ? [sound] : [])];
    return [
      { kind: "text", text },
      ...(sources.length > 0 ? [{ kind: "sources" as const, sources: [...sources] }] : []),
      ...(segments.length > 0 ? [{ kind: "segments" as const, segments: [...segments] }] : []),
    ];
  }
}

/** More than any model makes for one answer: a provider that says more has a fault. */
const mostSearches = 10_000;
/**
 * The shortest time between two text events of an answer: words that arrive faster share an event, because nobody reads that fast. It is 15 ms
 * for up to sixty answers at once. With more of them it grows, so that the process does not send more events a second, up to 60 ms.
 */
function frameGapMs(answersAtOnce: number): number {
  return Math.min(Math.max(answersAtOnce / 4, 15), 60);
}

/** One answer under way in this process. */
export class RunningAnswer {
  readonly start: AnswerStart;
  readonly feed = new Feed();
  private readonly answersAtOnce: () => number;
  readonly controller = new AbortController();
  /** `performance.now()` before the lease was last taken. */
  leaseTakenAtMs: number;
  /** True while the end is being written. A stop has no effect any more. */
  ending = false;
  /** The time from the request to the first text. */
  firstTextMs: number | undefined;
  private interruption: "stopped" | "interrupted" | undefined;
  private readonly output = new Output();
  private loggedEvents = 0;
  /** Text that has arrived but is not in the feed yet. */
  private gathered = "";
  private lastFrameAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;

  /** `answersAtOnce`: how many answers are under way in this process. */
  constructor(start: AnswerStart, answersAtOnce: () => number) {
    this.start = start;
    this.answersAtOnce = answersAtOnce;
    this.leaseTakenAtMs = start.askedAtMs;
    this.feed.push("start", {
      generationId: start.id,
      turn: turnOf(start.row),
      modelId: start.model.id,
      heldCredits: start.heldCredits,
      trimmedMessages: start.trimmedMessages,
      ...start.row.options,
    });
  }

  get text(): string {
    return this.output.text;
  }

  add(text: string): void {
    // The person stopped the answer, so text that arrives after that is neither shown nor stored.
    if (this.interruption) return;
    if (text !== "") this.firstTextMs ??= Math.round(performance.now() - this.start.askedAtMs);
    this.output.text += text;
    this.gathered += text;
    const waitMs = this.lastFrameAt + frameGapMs(this.answersAtOnce()) - performance.now();
    if (waitMs <= 0) this.tellText();
    else this.timer ??= setTimeout(() => this.tellText(), waitMs);
  }

  addSources(sources: readonly Source[]): void {
    if (this.interruption) return;
    this.output.sources.push(...sources);
    this.feed.push("sources", { sources: [...sources] });
  }

  addSegments(segments: readonly Segment[]): void {
    if (this.interruption) return;
    this.output.segments.push(...segments);
    this.tellText();
    this.feed.push("segments", { segments: [...segments] });
  }

  /** Adds a stored sound. It counts even after a stop, like a picture. */
  addSound(sound: SoundPart): void {
    this.output.sound = sound;
    this.feed.push("sound", { sound });
  }

  addPreview(place: number, address: string): void {
    if (!this.interruption && !this.ending && !this.output.pictures[place]) this.feed.push("preview", { place, address });
  }

  /** Adds a stored picture. If there was a stop, the picture was finished before it, so it counts. */
  addPicture(place: number, picture: PicturePart): void {
    this.output.pictures[place] = picture;
    this.feed.push("picture", { place, picture });
  }

  get deliveredPictures(): number {
    return this.output.pictures.filter((picture) => picture !== undefined).length;
  }

  /** Puts the gathered text into the feed as one event. */
  tellText(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.gathered === "") return;
    const text = this.gathered;
    this.gathered = "";
    this.lastFrameAt = performance.now();
    this.feed.push("delta", { text });
  }

  /** `stopped` by the person or `interrupted` by us. Only the first call counts. */
  interrupt(interruption: "stopped" | "interrupted"): void {
    if (this.ending || this.interruption) return;
    this.interruption = interruption;
    this.controller.abort();
  }

  /**
   * The fairness rule: full price for an answer that is complete or was stopped after its first text; otherwise no charge. Pictures that
   * were delivered are charged, unless we have interrupted the answer.
   */
  outcome(end: UpstreamEnd): Outcome {
    const { promptTokens, completionTokens, thinkingTokens } = end;
    const searches = end.searches === null ? null : Math.min(end.searches, mostSearches);
    const costMicroDollars = end.costMicroDollars ?? providerCostMicroDollars(this.start.model, end, this.start.row.now);
    const figures = { promptTokens, completionTokens, thinkingTokens, searches, costMicroDollars };
    const rest = { failureCode: null, filterReason: null, cutShort: false, ...figures };
    const { picture } = this.start.row.options ?? {};
    const full = picture ? (this.start.heldCredits / picture.count) * this.deliveredPictures : this.start.heldCredits;
    const interruption = end.concluded ? undefined : this.interruption;
    if (interruption === "stopped") return { ...rest, status: "stopped", chargedCredits: this.parts.length === 0 ? 0 : full };
    const failureCode = interruption ?? end.failure ?? null;
    const filterReason = interruption ? null : end.filterReason;
    // Why some of the pictures are missing.
    if (failureCode !== null && interruption === undefined && this.deliveredPictures > 0)
      return { ...rest, status: "completed", failureCode, filterReason, chargedCredits: full };
    if (failureCode !== null) return { ...rest, status: "failed", failureCode, filterReason, chargedCredits: 0 };
    return { ...rest, status: "completed", cutShort: end.cutShort, chargedCredits: full };
  }

  /** The output so far. */
  get parts(): Part[] {
    return this.output.parts;
  }

  /** The frames that are not in the log yet. */
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

  /** The log has lost everything, so all of it must be written again. */
  unlog(): void {
    this.loggedEvents = 0;
  }
}
