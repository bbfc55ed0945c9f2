/** Chat completions, streamed, as OpenAI has defined them and most providers offer them. */
import type OpenAI from "openai";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { ChatForm } from "#domain/model-parameters.ts";
import { chatFormOf, parametersOf } from "#domain/model-parameters.ts";
import type { Model } from "#domain/models.ts";
import { azureReason, finishFilter } from "./filter-words.ts";
import { connectOpenAi } from "./openai-library.ts";
import type { ConnectModels, FinishReason, InputPart, ModelCall } from "./protocol.ts";
import { plainText } from "./protocol.ts";
import { errorNamed } from "./provider-errors.ts";
import type { EventData, ReadEvent, Said } from "./response-stream.ts";
import { fieldsOf, isFields, listOf, microDollars, streamEvents, tokenCount } from "./response-stream.ts";

/** The others are `other`, `tool_calls` too, or a filter's. Google's endpoint sends either spelling. */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "complete"],
  ["length", "cut_short"],
  ["max_tokens", "cut_short"],
]);

function thinkingOf(model: Model, { thinking }: ChatForm): Record<string, unknown> {
  const { effort } = parametersOf(model);
  if (effort === undefined) return {};
  if (thinking === "switch") return { thinking: { type: effort === "none" ? "disabled" : "enabled" } };
  return { reasoning_effort: effort };
}

function contentOf(part: InputPart): OpenAI.ChatCompletionContentPart {
  if (part.type === "text") return part;
  if (part.type === "picture") return { type: "image_url", image_url: { url: `data:${part.mediaType};base64,${part.data}` } };
  return { type: "file", file: { filename: part.name, file_data: `data:application/pdf;base64,${part.data}` } };
}

function open(client: OpenAI, { model, messages, signal }: ModelCall): Promise<Response> {
  const form = chatFormOf(model);
  const limit = { [form.limit]: model.outputTokenLimit };
  return client.chat.completions
    .create(
      {
        model: model.upstreamModel,
        messages: messages.map(({ role, parts }) =>
          role === "assistant" ? { role, content: plainText(parts) ?? "" } : { role, content: plainText(parts) ?? parts.map(contentOf) },
        ),
        stream: true,
        ...(form.asksForUsage && { stream_options: { include_usage: true } }),
        ...limit,
        ...thinkingOf(model, form),
      },
      { signal },
    )
    .asResponse();
}

/** Reads the chunks of one response. */
class ChunkReader {
  private readonly form: ChatForm;
  /** What the server's filter has stopped, as far as was said before the end. */
  private filter: FilterReason | undefined;
  /** The model has said in words of its own that it will not answer. */
  private refused = false;

  constructor(form: ChatForm) {
    this.form = form;
  }

  read({ error, choices, usage }: EventData, said: Said): void {
    if (error) {
      // xAI's is a text.
      said.fault = errorNamed(typeof error === "string" ? { message: error } : fieldsOf(error));
      return;
    }
    const [choice] = listOf(choices);
    if (choice) this.readChoice(choice, said);
    if (isFields(usage)) this.readUsage(usage, said);
  }

  private readUsage(usage: EventData, said: Said): void {
    const written = tokenCount(usage.completion_tokens);
    const thinkingTokens = tokenCount(fieldsOf(usage.completion_tokens_details).reasoning_tokens);
    said.usage({
      promptTokens: tokenCount(usage.prompt_tokens),
      completionTokens: written !== null && this.form.countsThinkingApart ? written + (thinkingTokens ?? 0) : written,
      thinkingTokens,
      costMicroDollars: microDollars(fieldsOf(usage.cost).total_cost),
    });
  }

  private readChoice({ delta, finish_reason: reason, content_filter_results: results }: EventData, said: Said): void {
    const { content, refusal, reasoning_content: thought, annotations } = fieldsOf(delta);
    said.text(content);
    // OpenAI's models that always search name their sources beside the text.
    said.sources(listOf(annotations).map(({ url_citation: citation }) => fieldsOf(citation)));
    // DeepSeek and xAI show what the model thinks.
    if (typeof thought === "string" && thought !== "") said.thinking();
    this.filter = azureReason(results) ?? this.filter;
    if (typeof refusal === "string" && refusal !== "") this.refused = true;
    // Some providers send "" instead of null while the answer goes on.
    if (typeof reason === "string" && reason !== "") this.readEnd(reason, said);
  }

  private readEnd(reason: string, said: Said): void {
    const filter = finishFilter(reason);
    // DeepSeek breaks an answer off when it is overloaded.
    if (reason === "insufficient_system_resource") said.fault = errorNamed({ code: reason });
    else if (filter) said.filtered(filter === "unspecified" ? (this.filter ?? filter) : filter);
    else if (this.refused) said.filtered("unspecified");
    else said.finish(finishReasons.get(reason.toLowerCase()) ?? "other");
  }
}

function readerOf({ model }: ModelCall): ReadEvent {
  const reader = new ChunkReader(chatFormOf(model));
  return (event, said) => reader.read(event, said);
}

export const connectOpenAiChat: ConnectModels = (_provider, address, send) => {
  const request = connectOpenAi(address, send);
  return { ask: (call) => streamEvents(() => request((client) => open(client, call)), readerOf(call)) };
};
