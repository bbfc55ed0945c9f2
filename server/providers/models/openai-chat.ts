/** Chat completions, streamed, as OpenAI has defined them and most providers offer them. */
import type OpenAI from "openai";
import type { FilterReason } from "#domain/filter-reasons.ts";
import { parametersOf } from "#domain/model-parameters.ts";
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

/** DeepSeek switches thinking off in its own way. The others know an effort. */
function thinkingOf(model: Model): Record<string, unknown> {
  const { effort } = parametersOf(model);
  if (effort === undefined) return {};
  if (model.provider === "deepseek") return { thinking: { type: effort === "none" ? "disabled" : "enabled" } };
  return { reasoning_effort: effort };
}

function contentOf(part: InputPart): OpenAI.ChatCompletionContentPart {
  if (part.type === "text") return part;
  if (part.type === "picture") return { type: "image_url", image_url: { url: `data:${part.mediaType};base64,${part.data}` } };
  return { type: "file", file: { filename: part.name, file_data: `data:application/pdf;base64,${part.data}` } };
}

function open(client: OpenAI, { model, messages, signal }: ModelCall): Promise<Response> {
  const limit = model.provider === "openai" ? { max_completion_tokens: model.outputTokenLimit } : { max_tokens: model.outputTokenLimit };
  return client.chat.completions
    .create(
      {
        model: model.upstreamModel,
        messages: messages.map(({ role, parts }) =>
          role === "assistant" ? { role, content: plainText(parts) ?? "" } : { role, content: plainText(parts) ?? parts.map(contentOf) },
        ),
        stream: true,
        stream_options: { include_usage: true },
        ...limit,
        ...thinkingOf(model),
      },
      { signal },
    )
    .asResponse();
}

/** Reads the chunks of one response. */
class ChunkReader {
  /** What the server's filter has stopped, as far as was said before the end. */
  private filter: FilterReason | undefined;
  /** The model has said in words of its own that it will not answer. */
  private refused = false;

  read({ error, choices, usage }: EventData, said: Said): void {
    if (error) {
      // xAI's is a text.
      said.fault = errorNamed(typeof error === "string" ? { message: error } : fieldsOf(error));
      return;
    }
    const [choice] = listOf(choices);
    if (choice) this.readChoice(choice, said);
    if (isFields(usage)) {
      said.usage({
        promptTokens: tokenCount(usage.prompt_tokens),
        completionTokens: tokenCount(usage.completion_tokens),
        thinkingTokens: tokenCount(fieldsOf(usage.completion_tokens_details).reasoning_tokens),
        costMicroDollars: microDollars(fieldsOf(usage.cost).total_cost),
      });
    }
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

function readerOf(): ReadEvent {
  const reader = new ChunkReader();
  return (event, said) => reader.read(event, said);
}

export const connectOpenAiChat: ConnectModels = (_provider, address, send) => {
  const request = connectOpenAi(address, send);
  return { ask: (call) => streamEvents(() => request((client) => open(client, call)), readerOf()) };
};
