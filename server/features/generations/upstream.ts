/** Asks a model one question, limits the time it may take, and interprets how it ends. Every fault of a provider becomes a failure code. */
import { setTimeout as delay } from "node:timers/promises";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { Model } from "#domain/models.ts";
import { failureKind, Outage } from "../../failures.ts";
import type { ModelGateway } from "../../providers/models/gateway.ts";
import type {
  FinishReason,
  ModelEvent,
  ModelMessage,
  ModelUsage,
  PictureWish,
  RecordingWish,
  Source,
  SpeechWish,
  SpokenSegment,
} from "../../providers/models/protocol.ts";
import { ModelOutage, ModelRefusal, RequestRefused } from "../../providers/models/protocol.ts";
import { unknownUsage } from "../../providers/models/response-stream.ts";
import type { ChatMessage } from "./history.ts";

export type ProviderFailure =
  | ModelOutage["code"]
  | ModelRefusal["code"]
  | "provider_empty"
  | "request_refused"
  | "files_unreadable"
  | "picture_not_kept"
  | "reference_unreadable"
  | "sound_not_kept"
  | "recording_unreadable";

export interface UpstreamTimings {
  firstTokenMs: number;
  idleMs: number;
  totalMs: number;
}

export interface Question {
  model: Model;
  /** Who asks. */
  personId: string;
  messages: readonly ChatMessage[];
  /** Turns the messages into what the model gets, with files; without it, words alone. An error here is our fault, not the model's. */
  load?(messages: readonly ChatMessage[], signal: AbortSignal): Promise<readonly ModelMessage[]>;
  /** Aborted when nobody wants the answer any more. The result does not matter then. */
  signal: AbortSignal;
  timings: UpstreamTimings;
  /** The model has begun to answer, so it has all of the question. Called once, if at all. */
  onBegun?(): void;
  onText(text: string): void;
  /** Where the answer has its facts from, if its model searches. May be called several times, with others each time. */
  onSources(sources: readonly Source[]): void;
  /** For a model that makes pictures. */
  picture?: PictureWish;
  onPreview?(bytes: Uint8Array): void;
  /** For a model that writes down what it hears. */
  recording?: RecordingWish;
  onSegments?(segments: readonly SpokenSegment[]): void;
  /** For a model that reads aloud. */
  speech?: SpeechWish;
}

export interface UpstreamEnd extends ModelUsage {
  /** Undefined if the provider said that the answer is complete. */
  failure: ProviderFailure | undefined;
  /** Why the provider's filter stopped it, if that is the failure. */
  filterReason: FilterReason | null;
  /** The answer reached the limit on its length. */
  cutShort: boolean;
  /** The provider said why the answer ended. A stop or an interruption after that changes nothing. */
  concluded: boolean;
  /** The error that caused the failure, if there was one. */
  error: unknown;
  /** The picture, as the provider sent it. The caller checks it and reports whether it is one. */
  picture: Uint8Array | undefined;
  /** The sound, as the provider sent it. The caller checks it and reports whether it is one. */
  sound: Uint8Array | undefined;
}

/** The end of an answer whose call was not made, or that took several calls with their own ends. */
export const nothingMade: UpstreamEnd = {
  ...{ failure: undefined, filterReason: null, cutShort: false, concluded: false, error: undefined, picture: undefined, sound: undefined },
  ...unknownUsage,
};

/** How long we wait for the token counts after the text has ended. */
const usageWaitMs = 2_000;

/** Aborts its signal when the provider keeps silent for too long, and when the caller's signal is aborted. */
class Patience {
  readonly controller = new AbortController();
  timedOut = false;
  private phase: "waiting" | "speaking" | "finished" = "waiting";
  private idle: NodeJS.Timeout;
  private readonly total: NodeJS.Timeout;
  private readonly outer: AbortSignal;
  private readonly timings: UpstreamTimings;
  private readonly forward = () => this.controller.abort();

  constructor(outer: AbortSignal, timings: UpstreamTimings) {
    this.outer = outer;
    this.timings = timings;
    this.idle = setTimeout(this.giveUp, timings.firstTokenMs);
    this.total = setTimeout(this.giveUp, timings.totalMs);
    outer.addEventListener("abort", this.forward, { once: true });
    if (outer.aborted) this.forward();
  }

  /** Called when the model is asked: its time to begin does not include the time that we took to load files. */
  asks(): void {
    this.idle.refresh();
  }

  /** Before the first text only thinking, searching and previews extend the wait. After it every event does. */
  heard({ type }: ModelEvent): void {
    if (type === "finish") this.enter("finished", usageWaitMs);
    else if (type === "text" && this.phase === "waiting") this.enter("speaking", this.timings.idleMs);
    else if (this.phase === "waiting" && (type === "thinking" || type === "sources" || type === "preview")) this.idle.refresh();
    else if (this.phase === "speaking") this.idle.refresh();
  }

  end(): void {
    clearTimeout(this.idle);
    clearTimeout(this.total);
    this.outer.removeEventListener("abort", this.forward);
  }

  private enter(phase: "speaking" | "finished", silenceMs: number): void {
    this.phase = phase;
    clearTimeout(this.idle);
    this.idle = setTimeout(this.giveUp, silenceMs);
  }

  private readonly giveUp = () => {
    this.timedOut = true;
    this.controller.abort();
  };
}

/** What the provider has said so far. */
class Transcript {
  heard = false;
  anyOutput = false;
  picture: Uint8Array | undefined;
  sound: Uint8Array | undefined;
  finish: FinishReason | undefined;
  filter: FilterReason | undefined;
  usage: ModelUsage = unknownUsage;
  error: unknown;

  take(event: ModelEvent, { onText, onSources, onPreview, onSegments }: Question): void {
    this.heard = true;
    if (event.type === "text") {
      this.anyOutput = true;
      // PostgreSQL's text can't hold U+0000.
      onText(event.text.includes("\0") ? event.text.replaceAll("\0", "\uFFFD") : event.text);
    } else if (event.type === "finish") {
      this.finish = event.reason;
      this.filter = event.filter;
    } else if (event.type === "usage") this.usage = event.usage;
    else if (event.type === "sources") onSources(event.sources);
    else if (event.type === "preview") onPreview?.(event.bytes);
    else if (event.type === "segments") onSegments?.(event.segments);
    else if (event.type === "picture") {
      this.anyOutput = true;
      this.picture = event.bytes;
    } else if (event.type === "sound") {
      this.anyOutput = true;
      this.sound = event.bytes;
    }
  }
}

export function failureOf(error: unknown): ProviderFailure {
  if (error instanceof ModelOutage || error instanceof ModelRefusal) return error.code;
  return error instanceof RequestRefused ? "request_refused" : "provider_error";
}

/** Why a filter stopped the answer; null if that is not the failure. */
export function filterReasonOf(failure: string | undefined, error: unknown, said?: FilterReason): FilterReason | null {
  if (failure !== "content_filtered") return null;
  return said ?? (error instanceof ModelRefusal ? error.filterReason : null) ?? "unspecified";
}

type End = Pick<UpstreamEnd, "failure" | "filterReason" | "cutShort" | "error">;

/** Decides how the answer ended. An error after the provider has said why it ended does not change that. */
function conclude({ finish, filter, anyOutput, error }: Transcript, timedOut: boolean): End {
  const failed = (failure: ProviderFailure, thrown?: unknown): End => {
    return { failure, filterReason: filterReasonOf(failure, thrown, filter), cutShort: false, error: thrown };
  };
  if (finish === undefined) return failed(timedOut ? "provider_timeout" : failureOf(error), error);
  if (finish === "other") return failed("provider_error");
  if (finish === "filtered") return failed("content_filtered");
  return anyOutput
    ? { failure: undefined, filterReason: null, cutShort: finish === "cut_short", error: undefined }
    : failed("provider_empty");
}

/** The provider turned the call away before it said anything, and asking once more may help. */
function mayAskAgain(error: unknown, { heard }: Transcript): error is ModelOutage & { againAfterMs: number } {
  return !heard && error instanceof ModelOutage && error.againAfterMs !== undefined;
}

/** Whether the end tells that the provider works, or that it does not; undefined if it tells neither. */
function providerWorked({ failure, error }: End, timedOut: boolean): boolean | undefined {
  if (failure === undefined) return true;
  if (timedOut) return false;
  return error !== undefined && failureKind(error) === "outage" ? false : undefined;
}

const toWords = ({ role, content }: ChatMessage): ModelMessage => ({ role, parts: [{ type: "text", text: content }] });

/** The files could not be read, or not in time. Nobody was asked. */
function filesUnread(error: unknown): End {
  return {
    failure: "files_unreadable",
    filterReason: null,
    cutShort: false,
    error: error ?? new Outage("the files of a question could not be read in time"),
  };
}

/** What goes to the model. Ends at the latest when the signal is aborted. */
async function loadAll({ load, messages }: Question, signal: AbortSignal): Promise<readonly ModelMessage[]> {
  if (!load || !messages.some(({ attachments, pictures }) => attachments ?? pictures)) return messages.map(toWords);
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
  return Promise.race([load(messages, signal), aborted.promise]);
}

/** Asks the model and passes the text on as it arrives; text that arrives together is one call of `onText`. Never throws. */
export async function askModel(gateway: ModelGateway, question: Question): Promise<UpstreamEnd> {
  const { model, personId, picture, recording, speech } = question;
  const transcript = new Transcript();
  const patience = new Patience(question.signal, question.timings);
  let asked = false;
  try {
    const call = {
      model,
      personId,
      messages: await loadAll(question, patience.controller.signal),
      signal: patience.controller.signal,
      ...(picture && { picture }),
      ...(recording && { recording }),
      ...(speech && { speech }),
    };
    asked = true;
    patience.asks();
    const listen = async () => {
      for await (const event of gateway.ask(call)) {
        if (!transcript.heard) {
          // Its files need no memory any more.
          call.messages = [];
          question.onBegun?.();
        }
        patience.heard(event);
        transcript.take(event, question);
      }
    };
    await listen().catch(async (error: unknown) => {
      if (!mayAskAgain(error, transcript)) throw error;
      await delay(error.againAfterMs, undefined, { signal: call.signal });
      await listen();
    });
  } catch (error) {
    // If we aborted the call ourselves, its error tells us nothing.
    if (!patience.controller.signal.aborted) transcript.error = error;
  } finally {
    patience.end();
  }
  const end = asked ? conclude(transcript, patience.timedOut) : filesUnread(transcript.error);
  // Files that could not be loaded are not the provider's fault.
  const worked = asked ? providerWorked(end, patience.timedOut) : undefined;
  if (worked !== undefined && !transcript.picture && !transcript.sound) gateway.report(model, personId, worked);
  const { picture: made, sound, usage } = transcript;
  return { ...end, concluded: transcript.finish !== undefined, picture: made, sound, ...usage };
}
