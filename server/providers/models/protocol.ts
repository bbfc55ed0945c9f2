/**
 * What a model provider's protocol looks like to the rest of the product. One file beside this one speaks each protocol, and
 * `gateway.ts` lists them. Which one a model speaks is in the catalogue (domain/models.ts).
 */

import type { ClipSeconds, ClipShape } from "#domain/clips.ts";
import { PermanentFailure } from "#domain/errors.ts";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { Model } from "#domain/models.ts";
import type { PictureBackground, PictureQuality, PictureSize } from "#domain/pictures.ts";
import { Outage } from "../../failures.ts";

/**
 * A part of a message. Another type will not compile until each protocol handles it. `data` is in base64. Only a model whose
 * parameters say so gets anything but text (domain/model-parameters.ts).
 */
export type InputPart =
  | { type: "text"; text: string }
  | { type: "picture"; mediaType: string; data: string }
  | { type: "pdf"; name: string; data: string };

export interface ModelMessage {
  role: "user" | "assistant";
  parts: readonly InputPart[];
}

/** One picture. The references and the mask are PNG files. */
export interface PictureWish {
  size: PictureSize;
  quality: PictureQuality;
  background: PictureBackground;
  references: readonly Uint8Array[];
  /** It is as large as the first reference. The provider changes what is transparent in it. */
  mask?: Uint8Array;
}

/** A whole file, as the person uploaded it. Its type is one that we know by its content. */
export interface RecordingWish {
  bytes: Uint8Array;
  name: string;
  mediaType: string;
  durationMs: number;
}

export interface SpeechWish {
  /** The provider's id of the voice (domain/speech.ts). */
  voice: string;
}

/** When a piece of a recording was spoken, in seconds, and by whom, if the provider says so. */
export interface SpokenSegment {
  from: number;
  to: number;
  speaker: string | null;
  text: string;
}

/** For providers that want a plain text where there is nothing else: the text of such a message, undefined of any other. */
export function plainText(parts: readonly InputPart[]): string | undefined {
  return parts.every(({ type }) => type === "text") ? parts.map((part) => (part.type === "text" ? part.text : "")).join("\n\n") : undefined;
}

export interface ModelCall {
  /** With the provider's id of the model and its limits. */
  model: Model;
  /** Who asks; providers are not told. */
  personId: string;
  /** Oldest first. A model that takes no conversation gets one message. */
  messages: readonly ModelMessage[];
  /** For a model that makes pictures: each call makes one. */
  picture?: PictureWish;
  /** For a model that writes down what it hears. The messages mean nothing to it. */
  recording?: RecordingWish;
  /** For a model that reads aloud: each call reads the text of its last message, which is short enough. */
  speech?: SpeechWish;
  /** When it is aborted, the call ends with an error and its connection is closed. */
  signal: AbortSignal;
}

/**
 * complete: all that there was to say. cut_short: up to the limit on its length. filtered: the provider refuses its content. other:
 * anything else, for example that the model wants to call a tool, which we don't offer.
 */
export type FinishReason = "complete" | "cut_short" | "filtered" | "other";

/** Null where the provider does not say. */
export interface ModelUsage {
  promptTokens: number | null;
  /** How many of the prompt's tokens are for pictures. */
  pictureTokens: number | null;
  /** Those of thinking included. */
  completionTokens: number | null;
  thinkingTokens: number | null;
  /** How often the model searched the web. */
  searches: number | null;
  /** Millionths of a US dollar. */
  costMicroDollars: number | null;
}

/** Where an answer has a fact from. */
export interface Source {
  /** The text refers to it with this number: `[3]`. Null if the text has the address itself. */
  mark: number | null;
  url: string;
  title: string | null;
  date: string | null;
}

/**
 * What a call yields. `finish` comes before `usage` and apart from it, because it settles what the answer is: a stop or an error
 * after it changes nothing. A call that ends without `finish` was broken off. Bytes are as the provider sent them: whoever gets them checks them.
 */
export type ModelEvent =
  | { type: "text"; text: string }
  /** The provider has sent something that is not for the person. */
  | { type: "working" }
  /** The model thinks, or searches the web. */
  | { type: "thinking" }
  /** Where the answer has its facts from. Each event adds to those before. */
  | { type: "sources"; sources: readonly Source[] }
  /** What the picture looks like so far. */
  | { type: "preview"; bytes: Uint8Array }
  /** The finished picture. */
  | { type: "picture"; bytes: Uint8Array }
  /** All that was read aloud, as an MP3. */
  | { type: "sound"; bytes: Uint8Array }
  /** Pieces of a transcript, whose words come as text too. Each event adds to those before. */
  | { type: "segments"; segments: readonly SpokenSegment[] }
  /** `filter`: why the provider's filter stopped it, if that is the reason. */
  | { type: "finish"; reason: FinishReason; filter?: FilterReason }
  /** The latest figures; each event replaces the one before. */
  | { type: "usage"; usage: ModelUsage };

/** The models of one provider, as reached by one protocol. */
export interface ModelConnection {
  /**
   * Sends the call when the first event is asked for, and never tries again. Throws `ModelRefusal`, `ModelOutage`, or an error that
   * `failureKind` classifies. Breaking off the iteration closes the connection.
   */
  ask(call: ModelCall): AsyncIterable<ModelEvent>;
}

export interface ModelAddress {
  apiKey: string;
  baseUrl: string;
}

/** Every request of the protocol goes through `send`, which refuses it within a transaction. */
export type ConnectModels = (provider: Model["provider"], address: ModelAddress, send: typeof fetch) => ModelConnection;

/** One clip. */
export interface ClipWish {
  prompt: string;
  seconds: ClipSeconds;
  shape: ClipShape;
  /** A PNG file with which the clip begins; it has that picture's shape. */
  picture?: Uint8Array;
}

/** How far the provider's job is. `failed` has a `ModelOutage` or a `ModelRefusal`. */
export type ClipState =
  | { state: "working"; percent: number | null }
  | { state: "done"; url: string; costMicroDollars: number | null }
  /** Some of what fails is billed all the same. */
  | { state: "failed"; error: ModelOutage | ModelRefusal; costMicroDollars: number | null };

/** The clips of one provider. None of these tries again by itself. */
export interface ClipConnection {
  /** Begins a job, which is billed from now on, and returns the provider's name for it. Throws as `ModelConnection.ask` does. */
  start(model: Model, wish: ClipWish, signal: AbortSignal): Promise<string>;
  /** Throws `ClipLost` if the provider does not know the job, and as `start`. */
  check(requestId: string, signal: AbortSignal): Promise<ClipState>;
  /**
   * Requests the finished clip at the address that the provider named. Throws a `ModelOutage` for an address that is not the provider's, and
   * `ClipLost` if there is nothing at it any more.
   */
  fetch(url: string, signal: AbortSignal): Promise<Response>;
}

export type ConnectClips = (address: ModelAddress, send: typeof fetch) => ClipConnection;

/** The provider can't be reached, is overloaded, does not accept our key, does not serve the model (any more) or answers nonsense. */
export class ModelOutage extends Outage {
  override readonly name = "ModelOutage";
  readonly code: "provider_error" | "provider_rate_limited" | "provider_timeout" | "provider_garbage" | "model_gone";

  /** When the same call may be sent once more; undefined if it should not be. */
  readonly againAfterMs: number | undefined;

  constructor(code: ModelOutage["code"], message: string, againAfterMs?: number) {
    super(message);
    this.code = code;
    this.againAfterMs = againAfterMs;
  }
}

/** What the provider has made, or was making, is not there (any more). */
export class ClipLost extends ModelOutage {}

/** The provider refuses the content of the question or of its own answer, or can't hear the recording. */
export class ModelRefusal extends PermanentFailure {
  override readonly name = "ModelRefusal";
  readonly code: "content_filtered" | "recording_unreadable";
  /** Null if it was no filter that refused. */
  readonly filterReason: FilterReason | null;

  /** `why`: our reason for what a filter refused. */
  constructor(message: string, why: FilterReason | "recording_unreadable") {
    super(message);
    this.code = why === "recording_unreadable" ? why : "content_filtered";
    this.filterReason = why === "recording_unreadable" ? null : why;
  }
}

/** The provider refuses the request as we have made it, often because of a file. The person can change that, and we have to look at why. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
