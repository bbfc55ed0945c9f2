/**
 * One question to a model provider, streamed. The response is read by hand: the package's iterator alone costs two
 * thirds of what a byte proxy does. Whatever the provider does wrong comes back as a failure code, never as an exception.
 */
import { createParser } from "eventsource-parser";
import { APIConnectionTimeoutError, APIError } from "openai";
import type { Model } from "#domain/models.ts";
import type { ModelGateway } from "../../providers/models.ts";
import type { ChatMessage } from "./history.ts";

export type ProviderFailure =
  | "provider_error"
  | "provider_rate_limited"
  | "provider_timeout"
  | "provider_garbage"
  | "provider_empty"
  | "content_filtered";

export interface UpstreamTimings {
  firstTokenMs: number;
  idleMs: number;
  totalMs: number;
}

export interface Question {
  model: Model;
  messages: readonly ChatMessage[];
  /** Aborted: the answer is not wanted any more, and what is returned does not matter. */
  signal: AbortSignal;
  timings: UpstreamTimings;
  onText(text: string): void;
}

export interface UpstreamEnd {
  /** Undefined: the provider said that the answer is complete. */
  failure: ProviderFailure | undefined;
  /** Complete as far as the limit on its length let it be. */
  cutShort: boolean;
  /** The provider said why the answer ended. A stop or an interruption after that changes nothing. */
  concluded: boolean;
  promptTokens: number | null;
  completionTokens: number | null;
}

/**
 * What a provider's finish reason means for the answer and its price. Any other reason is a failure and free, `tool_calls` too,
 * because we offer no tools.
 */
const finishReasons: ReadonlyMap<unknown, "complete" | "cut-short" | "content_filtered"> = new Map([
  ["stop", "complete"],
  ["length", "cut-short"],
  ["content_filter", "content_filtered"],
]);
/** Codes of the errors by which providers refuse what they filter, before an answer or in its middle. */
const filterCodes: ReadonlySet<unknown> = new Set(["content_filter", "content_policy_violation", "moderation_blocked"]);

/** Far above any answer within the token limits: a provider that runs wild is cut here. */
const maximumBytes = 8 * 1024 * 1024;
const maximumEventCharacters = 1024 * 1024;
/** How long usage may follow the end of the text. */
const usageWaitMs = 2_000;

interface Chunk {
  choices?: { delta?: { content?: unknown } | null; finish_reason?: unknown }[];
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
  error?: unknown;
}

function tokenCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : null;
}

/** An error of the provider's own, as it came in the stream or instead of one. */
function failureNamed(error: unknown): ProviderFailure {
  return filterCodes.has((error as { code?: unknown }).code) ? "content_filtered" : "provider_error";
}

/** What the provider has said so far. */
class Transcript {
  text = "";
  anyText = false;
  finishReason: string | undefined;
  done = false;
  failure: ProviderFailure | undefined;
  promptTokens: number | null = null;
  completionTokens: number | null = null;

  readonly parser = createParser({
    maxBufferSize: maximumEventCharacters,
    onEvent: ({ data }) => this.take(data),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") this.failure ??= "provider_garbage";
    },
  });

  /** The text since it was last asked for. */
  takeText(): string {
    const { text } = this;
    this.text = "";
    return text;
  }

  private take(data: string): void {
    if (this.done || this.failure) return;
    if (data === "[DONE]") {
      this.done = true;
      return;
    }
    let chunk: Chunk | null;
    try {
      chunk = JSON.parse(data) as Chunk | null;
    } catch {
      this.failure = "provider_garbage";
      return;
    }
    if (typeof chunk !== "object" || chunk === null) this.failure = "provider_garbage";
    else if (chunk.error) this.failure = failureNamed(chunk.error);
    else this.read(chunk);
  }

  private read({ choices, usage }: Chunk): void {
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    const content = choice?.delta?.content;
    if (typeof content === "string" && content !== "") {
      // PostgreSQL's text can't hold U+0000.
      this.text += content.includes("\0") ? content.replaceAll("\0", "\uFFFD") : content;
      this.anyText = true;
    }
    // Some say "" instead of null while they are not done.
    if (typeof choice?.finish_reason === "string" && choice.finish_reason !== "") this.finishReason ??= choice.finish_reason;
    if (usage) {
      this.promptTokens = tokenCount(usage.prompt_tokens);
      this.completionTokens = tokenCount(usage.completion_tokens);
    }
  }
}

/** Aborts its signal when the provider keeps silent for too long, and when the caller's signal is aborted. */
class Patience {
  readonly controller = new AbortController();
  timedOut = false;
  private idle: NodeJS.Timeout;
  private readonly total: NodeJS.Timeout;
  private readonly outer: AbortSignal;
  private readonly forward = () => this.controller.abort();

  constructor(outer: AbortSignal, timings: UpstreamTimings) {
    this.outer = outer;
    this.idle = setTimeout(this.giveUp, timings.firstTokenMs);
    this.total = setTimeout(this.giveUp, timings.totalMs);
    outer.addEventListener("abort", this.forward, { once: true });
    if (outer.aborted) this.forward();
  }

  allow(milliseconds: number): void {
    clearTimeout(this.idle);
    this.idle = setTimeout(this.giveUp, milliseconds);
  }

  heard(): void {
    this.idle.refresh();
  }

  end(): void {
    clearTimeout(this.idle);
    clearTimeout(this.total);
    this.outer.removeEventListener("abort", this.forward);
    // What is left of the response must not keep its connection.
    this.controller.abort();
  }

  private readonly giveUp = () => {
    this.timedOut = true;
    this.controller.abort();
  };
}

async function openStream(gateway: ModelGateway, question: Question, signal: AbortSignal): Promise<Response> {
  const { model, messages } = question;
  const client = gateway.client(model.provider);
  if (!client) throw new Error(`no credentials for ${model.provider}`);
  const limit = model.provider === "openai" ? { max_completion_tokens: model.outputTokenLimit } : { max_tokens: model.outputTokenLimit };
  return client.chat.completions
    .create(
      { model: model.upstreamModel, messages: [...messages], stream: true, stream_options: { include_usage: true }, ...limit },
      { signal },
    )
    .asResponse();
}

async function readStream(response: Response, question: Question, transcript: Transcript, patience: Patience): Promise<void> {
  const reader = response.body?.getReader();
  if (!reader || !/^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "")) {
    transcript.failure = "provider_garbage";
    return;
  }
  const decoder = new TextDecoder();
  let bytes = 0;
  let phase: "waiting" | "speaking" | "finished" = "waiting";
  while (!transcript.done && !transcript.failure) {
    const { done, value } = await reader.read();
    if (done) return;
    bytes += value.length;
    if (bytes > maximumBytes) transcript.failure = "provider_garbage";
    transcript.parser.feed(decoder.decode(value, { stream: true }));
    const text = transcript.takeText();
    if (text !== "") question.onText(text);
    if (transcript.finishReason !== undefined && phase !== "finished") {
      phase = "finished";
      patience.allow(usageWaitMs);
    } else if (transcript.anyText && phase === "waiting") {
      phase = "speaking";
      patience.allow(question.timings.idleMs);
    } else if (phase === "speaking") patience.heard();
  }
}

function failureOf(error: unknown): ProviderFailure {
  if (error instanceof APIConnectionTimeoutError) return "provider_timeout";
  if (!(error instanceof APIError)) return "provider_error";
  return error.status === 429 ? "provider_rate_limited" : failureNamed(error);
}

/** What the answer came to. Once the provider has said why it ended, what goes wrong after that takes nothing from it. */
function conclude(transcript: Transcript): Pick<UpstreamEnd, "failure" | "cutShort"> {
  if (transcript.finishReason === undefined) return { failure: transcript.failure ?? "provider_error", cutShort: false };
  const meaning = finishReasons.get(transcript.finishReason);
  if (meaning === undefined) return { failure: "provider_error", cutShort: false };
  if (meaning === "content_filtered") return { failure: meaning, cutShort: false };
  return { failure: transcript.anyText ? undefined : "provider_empty", cutShort: transcript.anyText && meaning === "cut-short" };
}

/** Asks and hands the text on as it comes, one call of `onText` for what arrived together. */
export async function askModel(gateway: ModelGateway, question: Question): Promise<UpstreamEnd> {
  const transcript = new Transcript();
  const patience = new Patience(question.signal, question.timings);
  try {
    const response = await openStream(gateway, question, patience.controller.signal);
    await readStream(response, question, transcript, patience);
  } catch (error) {
    transcript.failure ??= patience.timedOut ? "provider_timeout" : failureOf(error);
  } finally {
    patience.end();
  }
  const { promptTokens, completionTokens } = transcript;
  return { ...conclude(transcript), concluded: transcript.finishReason !== undefined, promptTokens, completionTokens };
}
