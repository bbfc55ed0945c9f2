import type { Static } from "typebox";
import { Type } from "typebox";
import { pictureBackgrounds, pictureLimits, pictureQualities, pictureSizes } from "#domain/pictures.ts";
import { Credits, NoBody, Timestamp, Uuid } from "../common.ts";
import { outcome } from "../outcome.ts";
import type { RouteContract } from "../route.ts";
import { type ClipEvent, ClipOptions, ClipPart, type ProgressEvent } from "./media.ts";
import type { SegmentsEvent, SoundEvent } from "./sounds.ts";
import { RecordingReceipt, Segment, SoundPart, SpeechOptions, SpeechReceipt } from "./sounds.ts";

const GenerationStatus = Type.Union([
  Type.Literal("streaming"),
  Type.Literal("completed"),
  Type.Literal("stopped"),
  Type.Literal("failed"),
]);
export type GenerationStatus = Static<typeof GenerationStatus>;

/** Where an answer has a fact from. */
export const Source = Type.Object({
  /** The text refers to it with this number, as in [3]. Null if the text has the address itself. */
  mark: Type.Union([Type.Integer(), Type.Null()]),
  url: Type.String(),
  title: Type.Union([Type.String(), Type.Null()]),
  /** The date in the provider's own form, usually YYYY-MM-DD. */
  date: Type.Union([Type.String(), Type.Null()]),
});
export type Source = Static<typeof Source>;

/** A picture that a model has made, as a file of the person. `alternative` says what it shows, for those who do not see it. */
export const PicturePart = Type.Object({
  kind: Type.Literal("picture"),
  fileId: Uuid,
  width: Type.Integer(),
  height: Type.Integer(),
  alternative: Type.String(),
});
export type PicturePart = Static<typeof PicturePart>;

/** A file of a question, as it was when it was sent; it may have been deleted since. */
export const AttachedFile = Type.Object({
  fileId: Uuid,
  name: Type.String(),
  contentType: Type.String(),
  bytes: Type.Integer(),
  /** A picture's, in pixels. */
  width: Type.Union([Type.Integer(), Type.Null()]),
  height: Type.Union([Type.Integer(), Type.Null()]),
  /** Only a PDF has it. */
  pages: Type.Union([Type.Integer(), Type.Null()]),
  /** Only a recording has it. */
  durationMs: Type.Optional(Type.Integer()),
  /** What of it the model read. */
  reading: Type.Object({
    as: Type.Union([Type.Literal("picture"), Type.Literal("pages"), Type.Literal("text"), Type.Literal("sound")]),
    pages: Type.Union([Type.Integer(), Type.Null()]),
    cut: Type.Boolean(),
  }),
});
export type AttachedFile = Static<typeof AttachedFile>;

/** What an answer, or a question, is made of, in order. A reader passes over kinds it does not know. */
export const Part = Type.Union([
  Type.Object({ kind: Type.Literal("text"), text: Type.String() }),
  Type.Object({ kind: Type.Literal("sources"), sources: Type.Array(Source) }),
  Type.Object({ kind: Type.Literal("segments"), segments: Type.Array(Segment) }),
  PicturePart,
  ClipPart,
  SoundPart,
]);
export type Part = Static<typeof Part>;

/** How a model that makes pictures is asked. The price is that of one picture times `count`. */
export const PictureOptions = Type.Object(
  {
    count: Type.Integer({ minimum: 1, maximum: pictureLimits.count }),
    size: Type.Enum([...pictureSizes]),
    quality: Type.Enum([...pictureQualities]),
    background: Type.Enum([...pictureBackgrounds]),
    /** Files of the person that the picture begins from. */
    references: Type.Optional(Type.Array(Uuid, { maxItems: pictureLimits.references, uniqueItems: true })),
    /** A file whose transparent parts mark what to change in the first reference. */
    mask: Type.Optional(Uuid),
  },
  { additionalProperties: false },
);
export type PictureOptions = Static<typeof PictureOptions>;

/** What was asked for besides words: one of these, or none. */
const asked = {
  /** How the pictures were asked for. */
  picture: Type.Optional(PictureOptions),
  /** How the clip was asked for. */
  clip: Type.Optional(ClipOptions),
  speech: Type.Optional(SpeechReceipt),
  recording: Type.Optional(RecordingReceipt),
};

/** Every answer has a receipt. */
export const Receipt = Type.Object({
  generationId: Uuid,
  modelId: Type.String(),
  status: GenerationStatus,
  /** The price, held before the request is sent to the model. */
  heldCredits: Credits,
  /** Null while the answer runs; 0 if nothing was charged. */
  chargedCredits: Type.Union([Credits, Type.Null()]),
  /** The credits that could be spent right after the answer ended. */
  availableAfter: Type.Union([Credits, Type.Null()]),
  ...outcome,
  /** How many of the oldest messages were left out to fit the model's input. */
  trimmedMessages: Type.Integer({ minimum: 0 }),
  ...asked,
  createdAt: Timestamp,
  endedAt: Type.Union([Timestamp, Type.Null()]),
});
export type Receipt = Static<typeof Receipt>;

/** The receipt with what the answer said: no parts while it runs, and none once it was deleted. */
export const Answer = Type.Object({ ...Receipt.properties, parts: Type.Array(Part) });
export type Answer = Static<typeof Answer>;

/** Where an answer stands in a conversation, by the ids of its messages. */
export const Turn = Type.Object({ conversationId: Uuid, questionId: Uuid, answerId: Uuid });
export type Turn = Static<typeof Turn>;

/** The numbered server-sent events of one answer: `start`, any number of the others, then one `receipt`. */
export const StartEvent = Type.Object({
  generationId: Uuid,
  /** Null for an answer without a conversation. */
  turn: Type.Union([Turn, Type.Null()]),
  modelId: Type.String(),
  heldCredits: Credits,
  trimmedMessages: Type.Integer(),
  ...asked,
});
export type StartEvent = Static<typeof StartEvent>;
export const DeltaEvent = Type.Object({ text: Type.String() });
export type DeltaEvent = Static<typeof DeltaEvent>;
/** Adds to the sources before it. */
export const SourcesEvent = Type.Object({ sources: Type.Array(Source) });
export type SourcesEvent = Static<typeof SourcesEvent>;
/** A small picture of a picture that is being made, as an address with its data; the next one replaces it. `place` is from 0. */
export const PreviewEvent = Type.Object({ place: Type.Integer(), address: Type.String() });
export type PreviewEvent = Static<typeof PreviewEvent>;
/** A picture that is finished and stored. */
export const PictureEvent = Type.Object({ place: Type.Integer(), picture: PicturePart });
export type PictureEvent = Static<typeof PictureEvent>;
export type GenerationEvent =
  | { event: "start"; data: StartEvent }
  | { event: "delta"; data: DeltaEvent }
  | { event: "sources"; data: SourcesEvent }
  | { event: "preview"; data: PreviewEvent }
  | { event: "picture"; data: PictureEvent }
  | { event: "progress"; data: ProgressEvent }
  | { event: "clip"; data: ClipEvent }
  | { event: "segments"; data: SegmentsEvent }
  | { event: "sound"; data: SoundEvent }
  | { event: "receipt"; data: Receipt };

export const CreateGeneration = Type.Object(
  {
    model: Type.String({ maxLength: 100 }),
    /** The question; or `questionId`, to ask a question of the conversation again. */
    prompt: Type.Optional(Type.String({ maxLength: 200_000 })),
    questionId: Type.Optional(Uuid),
    conversationId: Type.Optional(Uuid),
    /** Files that belong to `prompt`, uploaded before, or sent in this conversation before. */
    attachments: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 5, uniqueItems: true })),
    /**
     * The answer that `prompt` follows: only the branch up to it goes to the model. Null: the question begins the conversation anew.
     * Without it the question follows the end of the branch that is shown.
     */
    parentId: Type.Optional(Type.Union([Uuid, Type.Null()])),
    /** The price the person saw. If the price is another one now: 409 `price_changed`, and no credits are held. */
    quotedCredits: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    /** The person agreed to this price. Needed above the price from which they want to be asked: else 409 `confirmation_required`. */
    confirmed: Type.Optional(Type.Boolean()),
    /** For a model that makes pictures. Without it one picture is made, in the usual size and quality. */
    picture: Type.Optional(PictureOptions),
    /** For a model that makes clips. Without it the clip has the usual length and shape. */
    clip: Type.Optional(ClipOptions),
    /** For a model that reads aloud. Without it the model's usual voice reads. */
    speech: Type.Optional(SpeechOptions),
    /** An answer of the person's that a model reads aloud: instead of `prompt`, and outside of the conversation. */
    reads: Type.Optional(Uuid),
    /** A transcript that is meant for the composer: it belongs to no conversation, and is kept for a week. */
    dictated: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
export type CreateGeneration = Static<typeof CreateGeneration>;

const byId = Type.Object({ id: Uuid });
const EventStream = Type.Any({ description: "text/event-stream" });

export const generationRoutes = {
  "POST /api/generations": {
    summary: "Hold the price, ask the model and stream its answer as numbered server-sent events. Idempotency-Key required",
    headers: Type.Object({ "idempotency-key": Type.String({ minLength: 8, maxLength: 200 }) }),
    body: CreateGeneration,
    response: { 200: EventStream },
  },
  "GET /api/generations/:id": { summary: "The receipt, with what the answer said", params: byId, response: { 200: Answer } },
  "GET /api/generations/:id/events": {
    summary:
      "The same stream from after Last-Event-ID (or from the start), from any process. A day after its end its text comes at once, " +
      "and the middle of it is 410 `answer_gone`; so is an answer deleted with its conversation",
    params: byId,
    headers: Type.Object({ "last-event-id": Type.Optional(Type.String({ pattern: "^[0-9]{1,9}$" })) }),
    response: { 200: EventStream },
  },
  "POST /api/generations/:id/stop": {
    summary: "Stop: free before any output, full price after. A clip can be stopped, for free, until its provider has begun",
    params: byId,
    body: NoBody,
    response: { 200: Receipt },
  },
} as const satisfies Record<string, RouteContract>;
