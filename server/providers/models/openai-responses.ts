/** OpenAI's Responses, streamed. Perplexity's Agent API speaks them too, with results of its searches as items and events of its own. */
import type OpenAI from "openai";
import { parametersOf } from "#domain/model-parameters.ts";
import { reasonOfResponse } from "./filter-words.ts";
import { connectOpenAi } from "./openai-library.ts";
import type { ConnectModels, InputPart, ModelCall } from "./protocol.ts";
import { plainText } from "./protocol.ts";
import { errorNamed } from "./provider-errors.ts";
import type { EventData, ReadEvent, Said } from "./response-stream.ts";
import { fieldsOf, listOf, microDollars, streamEvents, tokenCount } from "./response-stream.ts";

/**
 * Both providers limit the searches: OpenAI by calls of tools, Perplexity by rounds of search and thought, the last of which writes the
 * answer. What the model reads of the results is billed as input. So we ask OpenAI for little of it, and Perplexity for so many tokens.
 */
function searchingOf({ model }: ModelCall): Record<string, unknown> {
  const { searches, foundTokens } = parametersOf(model);
  if (searches === undefined) return {};
  if (model.provider !== "perplexity") return { tools: [{ type: "web_search", search_context_size: "low" }], max_tool_calls: searches };
  return { tools: [{ type: "web_search", max_tokens: foundTokens, max_tokens_per_page: foundTokens }], max_steps: searches + 1 };
}

function contentOf(part: InputPart): OpenAI.Responses.ResponseInputContent {
  if (part.type === "text") return { type: "input_text", text: part.text };
  if (part.type === "picture") return { type: "input_image", detail: "auto", image_url: `data:${part.mediaType};base64,${part.data}` };
  return { type: "input_file", filename: part.name, file_data: `data:application/pdf;base64,${part.data}` };
}

function open(client: OpenAI, call: ModelCall): Promise<Response> {
  const { model, messages, signal } = call;
  const { effort } = parametersOf(model);
  return client.responses
    .create(
      {
        model: model.upstreamModel,
        input: messages.map(({ role, parts }) => ({
          type: "message",
          role,
          content: plainText(parts) ?? parts.map(contentOf),
        })),
        stream: true,
        max_output_tokens: model.outputTokenLimit,
        // What people write is not kept for a month, as it would be otherwise. Perplexity keeps nothing and does not know the field.
        ...(model.provider === "perplexity" ? {} : { store: false }),
        ...(effort === undefined ? {} : { reasoning: { effort } }),
        ...searchingOf(call),
      },
      { signal },
    )
    .asResponse();
}

/** Reads the events of one response. */
class ResponseReader {
  private searches = 0;
  private refused = false;

  read(event: EventData, said: Said): void {
    switch (event.type) {
      case "response.output_text.delta":
        said.text(event.delta);
        break;
      case "response.output_text.annotation.added":
        said.sources(citationsIn([fieldsOf(event.annotation)]));
        break;
      case "response.refusal.delta":
        this.refused = true;
        break;
      case "response.output_item.done":
        this.readItem(fieldsOf(event.item), said);
        break;
      case "response.reasoning.search_results":
        said.sources(listOf(event.results));
        break;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "error":
        this.readEnd(event, said);
        break;
      default:
        if (isThought(event)) said.thinking();
    }
  }

  private readItem(item: EventData, said: Said): void {
    said.thinking();
    if (listOf(item.content).some(({ type }) => type === "refusal")) this.refused = true;
    // The model may also open a page that it found, or search within one; neither is billed as a search.
    if (item.type === "web_search_call" && (fieldsOf(item.action).type ?? "search") === "search") this.searches += 1;
    if (item.type === "search_results") {
      this.searches += Math.max(Array.isArray(item.queries) ? item.queries.length : 1, 1);
      said.sources(listOf(item.results));
    }
  }

  /** The end has everything at once: why it ended, the usage, and the whole answer again. */
  private readEnd(event: EventData, said: Said): void {
    const response = fieldsOf(event.response);
    // Some servers end every response in the same way, and say in its status what became of it.
    if (event.type === "error" || event.type === "response.failed" || response.status === "failed") {
      // OpenAI has the error of a failed response inside it, Perplexity beside it, and an `error` event is one itself.
      const error = [response.error, event.error].find(Boolean);
      said.fault = errorNamed(error ? fieldsOf(error) : { code: event.code, message: event.message });
    } else {
      const isIncomplete = event.type === "response.incomplete" || response.status === "incomplete";
      const { reason } = fieldsOf(response.incomplete_details);
      if (this.refused || (isIncomplete && reason === "content_filter")) said.filtered(reasonOfResponse(response));
      else said.finish(finishReason(isIncomplete ? (reason ?? "max_output_tokens") : undefined));
      said.done = true;
    }
    const { usage } = response;
    if (usage) this.readUsage(fieldsOf(usage), said);
  }

  private readUsage(usage: EventData, said: Said): void {
    const counted = tokenCount(fieldsOf(fieldsOf(usage.tool_calls_details).web_search).invocation);
    said.usage({
      promptTokens: tokenCount(usage.input_tokens),
      completionTokens: tokenCount(usage.output_tokens),
      thinkingTokens: tokenCount(fieldsOf(usage.output_tokens_details).reasoning_tokens),
      searches: counted ?? this.searches,
      costMicroDollars: microDollars(fieldsOf(usage.cost).total_cost),
    });
  }
}

function finishReason(incomplete: unknown) {
  if (incomplete === undefined) return "complete";
  return incomplete === "max_output_tokens" ? "cut_short" : "other";
}

const citationsIn = (annotations: readonly EventData[]) => annotations.filter(({ type }) => type === "url_citation");

/** `response.reasoning…`, and the progress of a search. */
function isThought({ type, item }: EventData): boolean {
  if (typeof type !== "string") return false;
  if (type === "response.output_item.added") return fieldsOf(item).type !== "message";
  return type.startsWith("response.reasoning") || type.startsWith("response.web_search_call.");
}

function readerOf(): ReadEvent {
  const reader = new ResponseReader();
  return (event, said) => reader.read(event, said);
}

export const connectOpenAiResponses: ConnectModels = (_provider, address, send) => {
  const request = connectOpenAi(address, send);
  return { ask: (call) => streamEvents(() => request((client) => open(client, call)), readerOf()) };
};
