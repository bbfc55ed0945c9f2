/** Clips, and the gallery of what models have made. */
import type { Static } from "typebox";
import { Type } from "typebox";
import { clipSeconds, clipShapes } from "#domain/clips.ts";
import { Timestamp, Uuid } from "../common.ts";

/** A clip that a model has made, as a file of the person. `alternative` says what it shows. */
export const ClipPart = Type.Object({
  kind: Type.Literal("clip"),
  fileId: Uuid,
  width: Type.Integer(),
  height: Type.Integer(),
  durationMs: Type.Integer(),
  alternative: Type.String(),
});
export type ClipPart = Static<typeof ClipPart>;

/** How a model that makes clips is asked. */
export const ClipOptions = Type.Object(
  {
    seconds: Type.Enum([...clipSeconds]),
    /** A clip with a reference has the shape of the reference. */
    shape: Type.Enum([...clipShapes]),
    /** The person's file with which the clip begins. */
    reference: Type.Optional(Uuid),
  },
  { additionalProperties: false },
);
export type ClipOptions = Static<typeof ClipOptions>;

/** What becomes of a clip. */
export const ProgressEvent = Type.Object({
  state: Type.Union([Type.Literal("queued"), Type.Literal("working"), Type.Literal("downloading")]),
  /** The place in the queue, from 1. Null if it is far back, or once the clip has left the queue. */
  place: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  /** Null where the provider does not say. */
  percent: Type.Union([Type.Integer({ minimum: 0, maximum: 100 }), Type.Null()]),
  /** When the provider began. */
  startedAt: Type.Union([Timestamp, Type.Null()]),
});
export type ProgressEvent = Static<typeof ProgressEvent>;

/** The clip is finished and stored. */
export const ClipEvent = Type.Object({ clip: ClipPart });
export type ClipEvent = Static<typeof ClipEvent>;

/** A picture or a clip of the person's gallery. */
export const GalleryPicture = Type.Object({
  fileId: Uuid,
  width: Type.Integer(),
  height: Type.Integer(),
  /** Only a clip has it. */
  durationMs: Type.Union([Type.Integer(), Type.Null()]),
  alternative: Type.String(),
  /** All of it. */
  prompt: Type.String(),
  modelId: Type.String(),
  conversationId: Type.Union([Uuid, Type.Null()]),
  createdAt: Timestamp,
});
export type GalleryPicture = Static<typeof GalleryPicture>;
