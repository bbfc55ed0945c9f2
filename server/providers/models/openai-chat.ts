/** Chat completions, streamed, as OpenAI has defined them and most providers offer them. */
import type OpenAI from "openai";
import { parametersOf } from "#domain/model-parameters.ts";
import type { Model } from "#domain/models.ts";
import { connectOpenAi } from "./openai-library.ts";
import type { ConnectModels, FinishReason, InputPart, ModelCall } from "./protocol.ts";
import { plainText } from "./protocol.ts";
import { errorNamed } from "./provider-errors.ts";
import type { EventData, Said } from "./response-stream.ts";
import { fieldsOf, isFields, listOf, microDollars, streamEvents, tokenCount } from "./response-stream.ts";

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

/** DeepSeek switches thinking off in its own way. The others know an effort. */
function thinkingOf({ id, provider }: Model): Record<string, unknown> {
  const { effort } = parametersOf({ id });
  if (effort === undefined) return {};
  if (provider === "deepseek") return { thinking: { type: effort === "none" ? "disabled" : "enabled" } };
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

function readChoice({ delta, finish_reason: reason }: EventData, said: Said): void {
  const { content, reasoning_content: thought, annotations } = fieldsOf(delta);
  said.text(content);
  // OpenAI's models that always search name their sources beside the text.
  said.sources(listOf(annotations).map(({ url_citation: citation }) => fieldsOf(citation)));
  // DeepSeek and xAI show what the model thinks.
  if (typeof thought === "string" && thought !== "") said.thinking();
  // DeepSeek breaks an answer off when it is overloaded.
  if (reason === "insufficient_system_resource") said.fault = errorNamed({ code: reason });
  // Some providers send "" instead of null while the answer goes on.
  else if (typeof reason === "string" && reason !== "") said.finish(finishReasons.get(reason.toLowerCase()) ?? "other");
}

function readChunk({ error, choices, usage }: EventData, said: Said): void {
  if (error) {
    said.fault = errorNamed(fieldsOf(error));
    return;
  }
  const [choice] = listOf(choices);
  if (choice) readChoice(choice, said);
  if (isFields(usage)) {
    said.usage({
      promptTokens: tokenCount(usage.prompt_tokens),
      completionTokens: tokenCount(usage.completion_tokens),
      thinkingTokens: tokenCount(fieldsOf(usage.completion_tokens_details).reasoning_tokens),
      costMicroDollars: microDollars(fieldsOf(usage.cost).total_cost),
    });
  }
}

export const connectOpenAiChat: ConnectModels = (_provider, address, send) => {
  const request = connectOpenAi(address, send);
  return { ask: (call) => streamEvents(() => request((client) => open(client, call)), readChunk) };
};
