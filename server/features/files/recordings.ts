/** Uploads that models write down. A recording is kept as it is; what of it counts is measured from all of its bytes. */
import { measureRecording } from "#domain/audio/length.ts";
import { DomainError } from "#domain/errors.ts";
import { fileTypeOf, headBytes } from "#domain/files.ts";
import { recordingLimits } from "#domain/transcripts.ts";
import type { FileInfo } from "../../contract/files.ts";
import type { Deps } from "../../deps.ts";
import { storeFile } from "./service.ts";

const faults = {
  unknown: () => new DomainError("recording_unsupported", "A recording may be an MP3, WAV, M4A, AAC, WebM or Ogg file"),
  moving: () => new DomainError("recording_moving", "This file is a video. Only sound can be written down"),
  silent: () => new DomainError("recording_silent", "There is nothing in this recording"),
  damaged: () => new DomainError("file_damaged", "This file is damaged or incomplete"),
} as const;

/** Throws `recording_unsupported`, `recording_moving`, `recording_silent`, `recording_too_long`, `file_damaged`, and what `storeFile` throws. */
export async function addRecording(
  deps: Pick<Deps, "db" | "storage" | "clock">,
  userId: string,
  name: string,
  bytes: Uint8Array,
): Promise<FileInfo> {
  const head = fileTypeOf(bytes.subarray(0, headBytes));
  const recording = measureRecording(head === "image/heic" ? undefined : head, bytes);
  if (typeof recording === "string") throw faults[recording]();
  const { type, milliseconds } = recording;
  const minutes = recordingLimits.seconds / 60;
  if (milliseconds > recordingLimits.seconds * 1_000)
    throw new DomainError("recording_too_long", `A recording may last ${minutes} minutes`, { minutes });
  return storeFile(deps, { userId, kind: "attachment", name, type, durationMs: milliseconds }, bytes);
}
