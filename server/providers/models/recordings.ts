/** What the protocols that write down recordings have in common. */
import type { ModelCall, ModelEvent, RecordingWish, SpokenSegment } from "./protocol.ts";
import { ModelOutage, ModelRefusal, RequestRefused } from "./protocol.ts";
import type { EventData } from "./response-stream.ts";
import { listOf } from "./response-stream.ts";

/** Until the response begins: without a stream that is when an hour of speech is written down. */
export const transcriptTimeoutMs = 6 * 60_000;
/** More pieces than a person says in two hours. */
const mostSegments = 20_000;

export function recordingOf({ recording }: ModelCall): RecordingWish {
  if (!recording) throw new Error("a model that writes down recordings was asked without one");
  return recording;
}

/** The statuses for wrong requests, for too large ones, and for types and contents that can't be processed. */
const aboutTheRecording: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Our requests for transcripts differ only in the recording, so if a provider refuses one, the recording is the reason. */
export async function sendRecording(response: Promise<Response>): Promise<Response> {
  return response.catch((error: unknown) => {
    if (!(error instanceof RequestRefused) || !aboutTheRecording.has(error.status)) throw error;
    throw new ModelRefusal(error.message, "recording_unreadable");
  });
}

/** Providers tell a file's kind by its name. */
export function toFile({ bytes, name, mediaType }: RecordingWish): File {
  const ending = name.slice(name.lastIndexOf("."));
  return new File([new Uint8Array(bytes)], `recording${ending}`, { type: mediaType });
}

const seconds = (value: unknown) => (typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined);

/** The segments with valid times. Others can be left out, because their words are in the text anyway. */
function segmentsOf(list: unknown): SpokenSegment[] {
  return listOf(list)
    .slice(0, mostSegments)
    .flatMap(({ start, end, text, speaker_id: speaker }) => {
      const [from, to] = [seconds(start), seconds(end)];
      if (from === undefined || to === undefined || typeof text !== "string" || text.trim() === "") return [];
      return [{ from, to, text: text.trim(), speaker: typeof speaker === "string" && speaker !== "" ? speaker.slice(0, 100) : null }];
    });
}

/** The events of a transcript that came as a whole. */
export function* transcriptEvents({ text, segments }: EventData): Generator<ModelEvent> {
  if (typeof text !== "string") throw new ModelOutage("provider_garbage", "the response has no text");
  const words = text.trim();
  if (words !== "") yield { type: "text", text: words };
  const found = segmentsOf(segments);
  if (words !== "" && found.length > 0) yield { type: "segments", segments: found };
  yield { type: "finish", reason: "complete" };
}
