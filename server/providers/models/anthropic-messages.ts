/** Anthropic's Messages, streamed. Its endpoint for chat completions is meant for trying models, and leaves out what they think. */
import type Anthropic from "@anthropic-ai/sdk";
import { parametersOf } from "#domain/model-parameters.ts";
import { anthropicWords, reasonNamed } from "./filter-words.ts";
import type { ListForm } from "./model-list.ts";
import { responseTimeoutMs } from "./openai-library.ts";
import type { ConnectModels, FinishReason, InputPart, ModelCall } from "./protocol.ts";
import { plainText } from "./protocol.ts";
import { errorNamed, toModelError } from "./provider-errors.ts";
import type { EventData, ReadEvent, Said } from "./response-stream.ts";
import { fieldsOf, streamEvents, tokenCount } from "./response-stream.ts";

/** The others are `other`: `tool_use` and `pause_turn` too, since we offer no tools. */
const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ["end_turn", "complete"],
  ["stop_sequence", "complete"],
  ["max_tokens", "cut_short"],
  ["model_context_window_exceeded", "cut_short"],
]);

const thoughts: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking"]);

/** Loaded for the first question to one of its models. */
const library = () => import("@anthropic-ai/sdk");

/** Thinking is either switched off or has an effort. */
function thinkingOf({ model }: ModelCall) {
  const { effort } = parametersOf(model);
  if (effort === undefined) return {};
  return effort === "none" ? { thinking: { type: "disabled" as const } } : { output_config: { effort: "low" as const } };
}

type PictureType = Anthropic.Base64ImageSource["media_type"];

function contentOf(part: InputPart): Anthropic.ContentBlockParam {
  if (part.type === "text") return part;
  if (part.type === "picture")
    return { type: "image", source: { type: "base64", media_type: part.mediaType as PictureType, data: part.data } };
  return { type: "document", title: part.name, source: { type: "base64", media_type: "application/pdf", data: part.data } };
}

function open(client: Anthropic, call: ModelCall): Promise<Response> {
  const { model, messages, signal } = call;
  const body: Anthropic.MessageCreateParamsStreaming = {
    model: model.upstreamModel,
    max_tokens: model.outputTokenLimit,
    messages: messages.map(({ role, parts }) => ({ role, content: plainText(parts) ?? parts.map(contentOf) })),
    stream: true,
    ...thinkingOf(call),
  };
  // `messages.create` would write to the console that a model is old.
  return client.post("/v1/messages", { body, stream: true, signal }).asResponse();
}

/** Reads the events of one response. Its usage comes in two parts: what went in at the beginning, what came out at the end. */
class MessageReader {
  private promptTokens: number | null = null;

  read(event: EventData, said: Said): void {
    switch (event.type) {
      case "message_start":
        this.readUsage(fieldsOf(fieldsOf(event.message).usage), said);
        break;
      case "content_block_start":
        // While the model thinks, Anthropic may send nothing else for a long time.
        if (thoughts.has(fieldsOf(event.content_block).type)) said.thinking();
        break;
      case "content_block_delta":
        readDelta(fieldsOf(event.delta), said);
        break;
      case "message_delta": {
        const { stop_reason: reason, stop_details: details } = fieldsOf(event.delta);
        const { category } = fieldsOf(details);
        if (reason === "refusal") said.filtered(reasonNamed(anthropicWords, category ? [category] : []));
        else if (typeof reason === "string") said.finish(finishReasons.get(reason) ?? "other");
        this.readUsage(fieldsOf(event.usage), said);
        break;
      }
      case "message_stop":
        said.done = true;
        break;
      case "error":
        said.fault = errorNamed(fieldsOf(event.error));
    }
  }

  /** Every figure is the sum so far. Tokens that were read from a cache are counted apart from the others. */
  private readUsage(usage: EventData, said: Said): void {
    const fresh = tokenCount(usage.input_tokens);
    if (fresh !== null)
      this.promptTokens = fresh + (tokenCount(usage.cache_creation_input_tokens) ?? 0) + (tokenCount(usage.cache_read_input_tokens) ?? 0);
    said.usage({
      promptTokens: this.promptTokens,
      completionTokens: tokenCount(usage.output_tokens),
      thinkingTokens: tokenCount(fieldsOf(usage.output_tokens_details).thinking_tokens),
      searches: tokenCount(fieldsOf(usage.server_tool_use).web_search_requests),
    });
  }
}

function readDelta({ type, text }: EventData, said: Said): void {
  if (type === "text_delta") said.text(text);
  else if (type === "thinking_delta" || type === "signature_delta") said.thinking();
}

function readerOf(): ReadEvent {
  const reader = new MessageReader();
  return (event, said) => reader.read(event, said);
}

/** Its list has pages; 1,000 is their largest size. */
export const anthropicListForm: ListForm = {
  query: "?limit=1000",
  headers: (apiKey) => ({ "x-api-key": apiKey, "anthropic-version": "2023-06-01" }),
};

export const connectAnthropicMessages: ConnectModels = (_provider, { apiKey, baseUrl }, send) => {
  const options = { apiKey, authToken: null, maxRetries: 0, timeout: responseTimeoutMs, fetch: send };
  const connected = library().then((anthropic) => ({
    anthropic,
    // The package adds the version to the address itself.
    client: new anthropic.Anthropic({ ...options, baseURL: baseUrl.replace(/\/v1\/?$/, "") }),
  }));
  async function request(call: ModelCall): Promise<Response> {
    const { anthropic, client } = await connected;
    return open(client, call).catch((error: unknown) => {
      throw toModelError(error, anthropic);
    });
  }
  return { ask: (call) => streamEvents(() => request(call), readerOf()) };
};
