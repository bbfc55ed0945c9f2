import { ApiProblem, apiResponse, isAbort, NetworkProblem } from "#client/lib/api.ts";
import type { ServerSentEvent } from "#client/lib/event-stream.ts";
import { readEventStream } from "#client/lib/event-stream.ts";
import type {
  CreateGeneration,
  DeltaEvent,
  PictureEvent,
  PreviewEvent,
  Receipt,
  Source,
  SourcesEvent,
  StartEvent,
} from "#contract/generations/generations.ts";
import type { ClipEvent, ProgressEvent } from "#contract/generations/media.ts";
import type { Segment, SegmentsEvent, SoundEvent, SoundPart } from "#contract/generations/sounds.ts";

/** A prompt to send, or an answer that is already under way. */
export type AnswerSource = { request: CreateGeneration; idempotencyKey: string } | { generationId: string };

export interface AnswerListener {
  started(start: StartEvent): void;
  arrived(text: string): void;
  /** Where the answer has its facts from, beside those that were named before. */
  named(sources: readonly Source[]): void;
  /** What a picture looks like so far. */
  previewed(preview: PreviewEvent): void;
  /** A picture is finished. */
  pictured(picture: PictureEvent): void;
  /** How far a clip is. */
  progressed(progress: ProgressEvent): void;
  /** The clip is finished. */
  filmed(clip: ClipEvent): void;
  /** Pieces of a transcript, beside those that came before. */
  timed(segments: readonly Segment[]): void;
  /** What was read aloud is finished. */
  sounded(sound: SoundPart): void;
  /** The connection was lost (true) or is back (false); the answer itself goes on at the server. */
  interrupted(lost: boolean): void;
}

const ignore = () => {};

/** A listener that ignores everything. Copy it and replace the events you need. */
export const silentListener: AnswerListener = {
  ...{ started: ignore, arrived: ignore, named: ignore, previewed: ignore, pictured: ignore, progressed: ignore },
  ...{ filmed: ignore, timed: ignore, sounded: ignore, interrupted: ignore },
};

const firstDelayMs = 500;
const longestDelayMs = 8_000;
/** If we don't know whether a prompt arrived, we send it this many times, then give it back to the person. */
const sendAttempts = 4;
/** The server sends heartbeats more often than this, so a connection that is silent for this long is dead. */
const silenceMs = 45_000;

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      globalThis.removeEventListener?.("online", finish);
      signal.removeEventListener("abort", finish);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(finish, delayMs);
    globalThis.addEventListener?.("online", finish);
    signal.addEventListener("abort", finish);
  });
}

/** The state of one answer's stream across any number of connections. */
interface Progress {
  generationId: string | undefined;
  /** The number of the last event processed. Events that arrive again after a reconnection are skipped. */
  lastEventId: number;
  receipt: Receipt | undefined;
}

function take(event: ServerSentEvent, progress: Progress, listener: AnswerListener): void {
  const id = Number.parseInt(event.id, 10);
  if (!Number.isNaN(id)) {
    if (id <= progress.lastEventId) return;
    progress.lastEventId = id;
  }
  if (event.event === "start") {
    const start = JSON.parse(event.data) as StartEvent;
    progress.generationId = start.generationId;
    listener.started(start);
  } else if (event.event === "delta") listener.arrived((JSON.parse(event.data) as DeltaEvent).text);
  else if (event.event === "sources") listener.named((JSON.parse(event.data) as SourcesEvent).sources);
  else if (event.event === "preview") listener.previewed(JSON.parse(event.data) as PreviewEvent);
  else if (event.event === "picture") listener.pictured(JSON.parse(event.data) as PictureEvent);
  else if (event.event === "progress") listener.progressed(JSON.parse(event.data) as ProgressEvent);
  else if (event.event === "clip") listener.filmed(JSON.parse(event.data) as ClipEvent);
  else if (event.event === "segments") listener.timed((JSON.parse(event.data) as SegmentsEvent).segments);
  else if (event.event === "sound") listener.sounded((JSON.parse(event.data) as SoundEvent).sound);
  else if (event.event === "receipt") progress.receipt = JSON.parse(event.data) as Receipt;
}

async function connect(source: AnswerSource, progress: Progress, signal: AbortSignal): Promise<Response> {
  if (progress.generationId === undefined && "request" in source) {
    const headers = { "idempotency-key": source.idempotencyKey };
    return await apiResponse("POST /api/generations", { body: source.request, headers, signal });
  }
  const headers: Record<string, string> = progress.lastEventId < 0 ? {} : { "last-event-id": String(progress.lastEventId) };
  return await apiResponse("GET /api/generations/:id/events", { params: { id: progress.generationId ?? "" }, headers, signal });
}

/** A refusal is final. Exception: we know that the answer has begun, and the server has a problem of its own. */
function isFinal(error: unknown, progress: Progress): boolean {
  if (!(error instanceof ApiProblem)) return false;
  return progress.generationId === undefined || (error.status < 500 && error.status !== 429);
}

/**
 * Follows one answer to its receipt and reconnects as often as necessary, without losing or repeating text. Throws ApiProblem if the
 * prompt is refused, NetworkProblem if it could not be delivered (it may be sent again with the same key), AbortError on `signal`.
 */
export async function followAnswer(source: AnswerSource, listener: AnswerListener, signal: AbortSignal): Promise<Receipt> {
  const progress: Progress = {
    generationId: "generationId" in source ? source.generationId : undefined,
    lastEventId: -1,
    receipt: undefined,
  };
  let lost = false;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await connect(source, progress, signal);
      if (lost) listener.interrupted(false);
      lost = false;
      for await (const event of readEventStream(response.body ?? new ReadableStream(), silenceMs)) {
        // The connection works again, so the next interruption starts with the shortest pause.
        attempt = 0;
        take(event, progress, listener);
        if (progress.receipt) return progress.receipt;
      }
    } catch (error) {
      if (signal.aborted || isAbort(error) || isFinal(error, progress)) throw error;
    }
    if (progress.generationId === undefined && attempt + 1 >= sendAttempts) throw new NetworkProblem("the prompt could not be delivered");
    lost = true;
    listener.interrupted(true);
    await pause(Math.min(longestDelayMs, firstDelayMs * 2 ** attempt), signal);
  }
}
