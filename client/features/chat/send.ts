/** What is sent, and how question and answer stand in the thread until the server has said more. */
import type { AttachedFile, Part, PictureOptions, Source } from "#contract/generations/generations.ts";
import type { ClipOptions } from "#contract/generations/media.ts";
import type { Segment, SoundPart, SpeechOptions } from "#contract/generations/sounds.ts";
import { charactersOf } from "#domain/speech.ts";
import type { Again, ThreadMessage, Wish } from "./thread.ts";
import { wishOf } from "./thread.ts";

export interface Send {
  threadKey: string;
  modelId: string;
  prompt: string;
  quotedCredits: number;
  /** The person was asked about this price and agreed. */
  confirmed?: boolean;
  /** Sending the same prompt with the same key again returns the same answer. */
  idempotencyKey: string;
  /** The files of the question. */
  attached?: readonly AttachedFile[] | undefined;
  /** For a model that makes pictures. */
  picture?: PictureOptions | undefined;
  /** For a model that makes clips. */
  clip?: ClipOptions | undefined;
  /** For a model that reads aloud. */
  speech?: SpeechOptions | undefined;
  /** Set if the prompt did not come from the composer. */
  again?: Again;
  onStarted(conversationId: string): void;
}

export function questionOf(id: string, parentId: string | null, { prompt, attached = [] }: Send): ThreadMessage {
  const words = { kind: "text" as const, text: prompt };
  const parts = attached.length === 0 ? [words] : [{ kind: "attachments" as const, files: [...attached] }, words];
  return { id, parentId, role: "user", parts, timestamp: new Date().toISOString(), receipt: null };
}

/** What kind of answer a send asks for, until the server has confirmed it. */
export function askedOfSend({ picture, clip, speech, prompt, attached = [] }: Send): Wish {
  const [recording] = attached.filter(({ reading }) => reading.as === "sound");
  return wishOf({
    ...(picture && { picture }),
    ...(clip && { clip }),
    ...(speech && { speech: { ...speech, characters: charactersOf(prompt) } }),
    ...(recording && { recording: { fileId: recording.fileId, durationMs: recording.durationMs ?? 0 } }),
  });
}

/** The parts of an answer besides its text. Empty lists of sources or segments make no part. */
export function partsBeside(sources: readonly Source[], segments: readonly Segment[], sound: SoundPart | undefined): Part[] {
  return [
    ...(sources.length > 0 ? [{ kind: "sources" as const, sources: [...sources] }] : []),
    ...(segments.length > 0 ? [{ kind: "segments" as const, segments: [...segments] }] : []),
    ...(sound ? [sound] : []),
  ];
}

/** The options for pictures, clips and speech, as the request has them. */
export function wishOfSend({ picture, clip, speech }: Send) {
  return { ...(picture && { picture }), ...(clip && { clip }), ...(speech && { speech }) };
}
