/**
 * How long a recording is. Its price depends on it, so nothing is taken from what a header claims: every frame, packet or block is visited,
 * and where a container's times and the packets themselves disagree, the longer one counts. The work grows with the bytes of the file alone,
 * and nothing is decoded.
 */
import type { FileType } from "../files.ts";
import { measureAdts } from "./adts.ts";
import type { Measured, RecordingFault } from "./measured.ts";
import { measureMp3 } from "./mp3.ts";
import { measureMp4 } from "./mp4.ts";
import { measureOgg } from "./ogg.ts";
import { measureWav } from "./wav.ts";
import { measureWebm } from "./webm.ts";

/** What recordings may be. The type says what the file is after all of it was read: a clip's container can have nothing but sound. */
export interface Recording {
  type: FileType;
  milliseconds: number;
}

const measures: Partial<Record<FileType, { measure(bytes: Uint8Array): Measured; type: FileType }>> = {
  "audio/mpeg": { measure: measureMp3, type: "audio/mpeg" },
  "audio/wav": { measure: measureWav, type: "audio/wav" },
  "audio/mp4": { measure: measureMp4, type: "audio/mp4" },
  "video/mp4": { measure: measureMp4, type: "audio/mp4" },
  "video/webm": { measure: measureWebm, type: "audio/webm" },
  "audio/ogg": { measure: measureOgg, type: "audio/ogg" },
  "audio/aac": { measure: measureAdts, type: "audio/aac" },
};

/** `type`: by its first bytes (files.ts). */
export function measureRecording(type: FileType | undefined, bytes: Uint8Array): Recording | RecordingFault {
  const kind = type && measures[type];
  if (!kind) return "unknown";
  const seconds = kind.measure(bytes);
  if (typeof seconds !== "number") return seconds;
  if (!Number.isFinite(seconds)) return "damaged";
  // Rounded, so that floating-point error does not start another billed minute.
  return seconds > 0 ? { type: kind.type, milliseconds: Math.max(1, Math.round(seconds * 1_000)) } : "silent";
}
