/** What is written down and read aloud, in answers, requests and receipts. */
import type { Static } from "typebox";
import { Type } from "typebox";
import { Uuid } from "../common.ts";

/** What a model has read aloud, as a file of the person. */
export const SoundPart = Type.Object({ kind: Type.Literal("sound"), fileId: Uuid, durationMs: Type.Integer() });
export type SoundPart = Static<typeof SoundPart>;

/** When a piece of a transcript was spoken, in seconds, and by whom. The whole transcript is a part of its own, a text, before them. */
export const Segment = Type.Object({
  from: Type.Number(),
  to: Type.Number(),
  /** The provider's name for a voice; null where it does not tell them apart. */
  speaker: Type.Union([Type.String(), Type.Null()]),
  text: Type.String(),
});
export type Segment = Static<typeof Segment>;

/** How a text is read aloud. Its speed is the player's: the sound is the same. */
export const SpeechOptions = Type.Object({ voice: Type.String({ maxLength: 100 }) }, { additionalProperties: false });
export type SpeechOptions = Static<typeof SpeechOptions>;

/** What the price of a text that was read aloud counts. */
export const SpeechReceipt = Type.Object({
  voice: Type.String(),
  characters: Type.Integer(),
  /** The answer that was read aloud. */
  reads: Type.Optional(Uuid),
});
export type SpeechReceipt = Static<typeof SpeechReceipt>;

/** What the price of a transcript counts. */
export const RecordingReceipt = Type.Object({
  fileId: Uuid,
  durationMs: Type.Integer(),
  /** It was spoken into the composer, and belongs to no conversation. */
  dictated: Type.Optional(Type.Boolean()),
});
export type RecordingReceipt = Static<typeof RecordingReceipt>;

/** Adds to the segments before it. */
export const SegmentsEvent = Type.Object({ segments: Type.Array(Segment) });
export type SegmentsEvent = Static<typeof SegmentsEvent>;
/** What was read aloud is finished and stored. */
export const SoundEvent = Type.Object({ sound: SoundPart });
export type SoundEvent = Static<typeof SoundEvent>;
