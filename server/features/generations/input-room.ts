/**
 * Limits the memory for what goes to models beside words: it is in memory until its provider has taken it. Each provider has its own room, so
 * that a slow one doesn't hold up the others.
 */
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { recordingLimits } from "#domain/transcripts.ts";
import { Gate } from "../../http/gate.ts";
import type { AnswerOptions } from "./answer-options.ts";
import { sentBytes } from "./attached.ts";
import type { ChatMessage } from "./history.ts";

const mebibyte = 1024 * 1024;
/** For four of the longest recordings. */
const roomBytes = 8 * recordingLimits.megabytes * mebibyte;
const busySeconds = 10;
/** A recording is there as it was uploaded, and in the form that is sent. */
const copiesOfRecording = 2;
/** A picture or PDF is in base64, in the request's JSON and in its bytes, each a third larger than the file. */
const copiesOfAttached = 4;
/** A photograph as a PNG, as small as we make those that a picture begins from. */
const referenceBytes = 2 * mebibyte;

/** How much memory the answer's input takes, beside its words. */
export function inputBytes(
  model: Model,
  messages: readonly ChatMessage[],
  { options, recordingBytes = 0 }: { options: AnswerOptions | undefined; recordingBytes?: number },
): number {
  const { references = [], mask, count = 0 } = options?.picture ?? {};
  const pictures = references.length + (mask === undefined ? 0 : 1);
  // Each picture is a call of its own, with a form and its bytes.
  const referred = pictures * referenceBytes * (1 + 2 * count);
  return copiesOfRecording * recordingBytes + copiesOfAttached * sentBytes(model, messages) + referred;
}

const rooms = new Map<string, Gate>();

/** Reserves memory. Returns a function that gives it back, or a refusal if there is no room now; undefined if none is needed. */
export function takeRoom({ name, provider }: Model, bytes: number): (() => void) | DomainError | undefined {
  if (bytes === 0) return undefined;
  const room = rooms.get(provider) ?? new Gate(roomBytes);
  rooms.set(provider, room);
  const leave = room.tryEnter(bytes);
  if (leave) return leave;
  const message = `${name} has many files to read just now. Try again in ${busySeconds} s`;
  return new DomainError("model_unavailable", message, { retryAfterSeconds: busySeconds });
}
