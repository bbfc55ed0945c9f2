/**
 * Chat completions, streamed, as OpenAI has defined them and most providers offer them. The `openai` package sends the request. The
 * response is read with a parser of server-sent events, because the package's own iterator costs two thirds of what a byte proxy does.
 */
import { createParser } from "eventsource-parser";
import type OpenAI from "openai";
import type { Provider } from "#domain/models.ts";
import type { ConnectModels, FinishReason, ModelCall, ModelConnection, ModelEvent, ModelUsage } from "./protocol.ts";
import { ModelOutage, ModelRefusal } from "./protocol.ts";

/** `…_BASE_URL` overrides them. */
const baseUrls: Record<Provider, string> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta/openai",
  mistral: "https://api.mistral.ai/v1",
  deepseek: "https://api.deepseek.com/v1",
  perplexity: "https://api.perplexity.ai",
};

/** The others are `other`, `tool_calls` too. Google's endpoint sends either spelling. */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "complete"],
  ["length", "cut_short"],
  ["max_tokens", "cut_short"],
  ["content_filter", "filtered"],
  ["safety", "filtered"],
  ["recitation", "filtered"],
  ["prohibited_content", "filtered"],
  ["blocklist", "filtered"],
  ["spii", "filtered"],
]);
/** Codes of the errors by which providers refuse what they filter, before an answer or in its middle. */
const filterCodes: ReadonlySet<unknown> = new Set(["content_filter", "content_policy_violation", "moderation_blocked"]);
/** DeepSeek's refusal has no code of its own. */
const filterMessage = "Content Exists Risk";

/** Far above any answer within the token limits: a provider that sends more has a fault. */
const maximumBytes = 8 * 1024 * 1024;
const maximumEventCharacters = 1024 * 1024;
/** Until the response begins. */
const responseTimeoutMs = 60_000;
/** Until the response ends, after the provider has said that nothing follows. */
const restTimeoutMs = 1_000;

/** Its two hundred files are loaded for the first question: a process starts without them. */
const library = () => import("openai");
type Library = Awaited<ReturnType<typeof library>>;

interface Chunk {
  choices?: { delta?: { content?: unknown } | null; finish_reason?: unknown }[];
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown; cost?: { total_cost?: unknown } | null } | null;
  error?: unknown;
}

function tokenCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : null;
}

/** Perplexity says what the call costs, in US dollars. */
function microDollars(dollars: unknown): number | null {
  return typeof dollars === "number" && dollars >= 0 && dollars < 1_000 ? Math.ceil(dollars * 1e6) : null;
}

function isFiltered(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return filterCodes.has(code) || (typeof message === "string" && message.includes(filterMessage));
}

/** An error of the provider's own, as it came in the stream. */
function errorNamed(error: unknown): Error {
  if (isFiltered(error)) return new ModelRefusal("the provider filtered the answer");
  return new ModelOutage("provider_error", "the provider reported an error in its stream");
}

/** Statuses that are not about the content of our request but about our key or account at the provider, a conflict, or too many requests. */
const outageStatuses: ReadonlySet<number> = new Set([401, 402, 403, 408, 409, 425]);

/** The provider's own words are left out, because they may quote the person's, and errors are logged. */
function toModelError(error: unknown, { APIConnectionTimeoutError, APIError }: Library): unknown {
  if (error instanceof APIConnectionTimeoutError) return new ModelOutage("provider_timeout", "the provider's response did not begin");
  if (!(error instanceof APIError) || error.status === undefined) return error;
  const { status, type, code } = error;
  const message = `the provider answered ${status} (type ${type ?? "unknown"}, code ${code ?? "unknown"})`;
  if (status === 429) return new ModelOutage("provider_rate_limited", message);
  if (isFiltered(error)) return new ModelRefusal(message);
  return status >= 500 || outageStatuses.has(status) ? new ModelOutage("provider_error", message) : new Error(message);
}

/** Turns the bytes of a response into events. */
class ChunkReader {
  /** The provider has said that nothing follows. */
  done = false;
  /** What is wrong with the response. The events before it are still valid. */
  fault: Error | undefined;
  private bytes = 0;
  private text = "";
  private finish: { reason: FinishReason; told: boolean } | undefined;
  private usage: ModelUsage | undefined;
  private readonly decoder = new TextDecoder();
  private readonly parser = createParser({
    maxBufferSize: maximumEventCharacters,
    onEvent: ({ data }) => this.read(data),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") this.fault ??= new ModelOutage("provider_garbage", "an event has no end");
    },
  });

  /** Returns the events in these bytes. Text that arrived together is one event. */
  take(bytes: Uint8Array): ModelEvent[] {
    this.bytes += bytes.length;
    if (this.bytes > maximumBytes) this.fault ??= new ModelOutage("provider_garbage", "the response has no end");
    this.parser.feed(this.decoder.decode(bytes, { stream: true }));
    const events: ModelEvent[] = [];
    if (this.text !== "") events.push({ type: "text", text: this.text });
    if (this.finish?.told === false) events.push({ type: "finish", reason: this.finish.reason });
    if (this.usage) events.push({ type: "usage", usage: this.usage });
    if (this.finish) this.finish.told = true;
    this.text = "";
    this.usage = undefined;
    return events.length > 0 ? events : [{ type: "working" }];
  }

  private read(data: string): void {
    if (this.done || this.fault) return;
    if (data === "[DONE]") {
      this.done = true;
      return;
    }
    let chunk: Chunk | null;
    try {
      chunk = JSON.parse(data) as Chunk | null;
    } catch {
      chunk = null;
    }
    if (typeof chunk !== "object" || chunk === null) this.fault = new ModelOutage("provider_garbage", "an event is not a JSON object");
    else if (chunk.error) this.fault = errorNamed(chunk.error);
    else this.readChunk(chunk);
  }

  private readChunk({ choices, usage }: Chunk): void {
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    const content = choice?.delta?.content;
    if (typeof content === "string") this.text += content;
    const reason = choice?.finish_reason;
    // Some providers send "" instead of null while the answer goes on.
    if (typeof reason === "string" && reason !== "")
      this.finish ??= { reason: finishReasons.get(reason.toLowerCase()) ?? "other", told: false };
    if (usage) {
      this.usage = {
        promptTokens: tokenCount(usage.prompt_tokens),
        completionTokens: tokenCount(usage.completion_tokens),
        costMicroDollars: microDollars(usage.cost?.total_cost),
      };
    }
  }
}

async function open(client: OpenAI, { model, messages, signal }: ModelCall): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const limit = model.provider === "openai" ? { max_completion_tokens: model.outputTokenLimit } : { max_tokens: model.outputTokenLimit };
  const response = await client.chat.completions
    .create(
      {
        model: model.upstreamModel,
        messages: messages.map(({ role, parts }) => ({ role, content: parts.map(({ text }) => text).join("") })),
        stream: true,
        stream_options: { include_usage: true },
        ...limit,
      },
      { signal },
    )
    .asResponse();
  const { body, headers } = response;
  if (body && /^text\/event-stream\b/i.test(headers.get("content-type") ?? "")) return body.getReader();
  await body?.cancel();
  throw new ModelOutage("provider_garbage", "the response is not a stream of events");
}

interface Connected {
  openai: Library;
  client: OpenAI;
}

/** Reads the response to its end, so that its connection stays open and the next call needs no handshake. */
async function readRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), restTimeoutMs).unref();
  let ended = false;
  while (!ended)
    ended = await reader.read().then(
      ({ done }) => done,
      () => true,
    );
  clearTimeout(timer);
}

async function* ask(connected: Promise<Connected>, call: ModelCall): AsyncGenerator<ModelEvent, void> {
  const { client, openai } = await connected;
  const reader = await open(client, call).catch((error: unknown) => {
    throw toModelError(error, openai);
  });
  const chunks = new ChunkReader();
  try {
    while (!chunks.done) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const event of chunks.take(value)) yield event;
      if (chunks.fault) throw chunks.fault;
    }
  } finally {
    if (chunks.done) void readRest(reader);
    // Closes the connection if part of the response was not read.
    else void reader.cancel().catch(() => {});
  }
}

export const connectOpenAiChat: ConnectModels = (provider, { apiKey, baseUrl }, send): ModelConnection => {
  const options = { apiKey, baseURL: baseUrl ?? baseUrls[provider], maxRetries: 0, timeout: responseTimeoutMs, fetch: send };
  const connected = library().then((openai) => ({ openai, client: new openai.OpenAI(options) }));
  return { ask: (call) => ask(connected, call) };
};
