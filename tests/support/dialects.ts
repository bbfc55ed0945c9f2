/** What a provider sends in each of the protocols that we speak, for the same course of an answer. */
import type { Model, ModelProtocol, Provider } from "#domain/models.ts";
import { findModel } from "#domain/models.ts";

export interface Dialect {
  protocol: ModelProtocol;
  /** A model of the catalogue, asked by this protocol. */
  model: Model;
  path: string;
  /** Frames in the order in which they come: the beginning, the text, the end. */
  begin: object[];
  text(text: string): object;
  /** The events that say why the answer ended, with the usage if there is one. */
  end(reason: "complete" | "cut_short" | "filtered" | "other", usage?: { promptTokens: number; completionTokens: number }): object[];
  /** After the last event. */
  closing: string;
  /** An error in the stream. */
  error(code: string, message: string): object;
  /** The body of an error that comes instead of a response. */
  errorBody(code: string, message: string): object;
}

function asked(protocol: ModelProtocol, provider: Provider): Model {
  const model: Model | undefined = findModel("gpt-5-mini");
  if (!model) throw new Error("there is no such model");
  return { ...model, provider, protocol };
}

const openAiError = (code: string, message: string) => ({ type: "some_error", code, message });
const chunk = (choice: object) => ({ choices: [{ index: 0, ...choice }] });

const chat: Dialect = {
  protocol: "openai-chat",
  model: asked("openai-chat", "openai"),
  path: "/v1/chat/completions",
  begin: [chunk({ delta: { role: "assistant", content: "" }, finish_reason: null })],
  text: (content) => chunk({ delta: { content }, finish_reason: null }),
  end(reason, usage) {
    const name = { complete: "stop", cut_short: "length", filtered: "content_filter", other: "tool_calls" }[reason];
    const counts = usage && { prompt_tokens: usage.promptTokens, completion_tokens: usage.completionTokens };
    return [chunk({ delta: {}, finish_reason: name }), ...(counts ? [{ choices: [], usage: counts }] : [])];
  },
  closing: "data: [DONE]\n\n",
  error: (code, message) => ({ error: openAiError(code, message) }),
  errorBody: (code, message) => ({ error: openAiError(code, message) }),
};

const responses: Dialect = {
  protocol: "openai-responses",
  model: asked("openai-responses", "openai"),
  path: "/v1/responses",
  begin: [
    { type: "response.created", response: { status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { type: "message", role: "assistant", content: [] } },
  ],
  text: (delta) => ({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta }),
  end(reason, usage) {
    const counts = usage ? { input_tokens: usage.promptTokens, output_tokens: usage.completionTokens } : null;
    if (reason === "complete") return [{ type: "response.completed", response: { status: "completed", usage: counts } }];
    const why = { cut_short: "max_output_tokens", filtered: "content_filter", other: "max_messages" }[reason];
    return [{ type: "response.incomplete", response: { status: "incomplete", incomplete_details: { reason: why }, usage: counts } }];
  },
  closing: "",
  error: (code, message) => ({ type: "response.failed", response: { status: "failed", error: { code, message } } }),
  errorBody: (code, message) => ({ error: openAiError(code, message) }),
};

const messages: Dialect = {
  protocol: "anthropic-messages",
  model: asked("anthropic-messages", "anthropic"),
  path: "/v1/messages",
  begin: [
    { type: "message_start", message: { type: "message", role: "assistant", content: [], usage: {} } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  ],
  text: (text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  end(reason, usage) {
    const name = { complete: "end_turn", cut_short: "max_tokens", filtered: "refusal", other: "tool_use" }[reason];
    const counts = usage && { input_tokens: usage.promptTokens, output_tokens: usage.completionTokens };
    return [
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: name, stop_sequence: null }, ...(counts ? { usage: counts } : {}) },
      { type: "message_stop" },
    ];
  },
  closing: "",
  error: (code, message) => ({ type: "error", error: { type: code, message } }),
  errorBody: (type, message) => ({ type: "error", error: { type, message } }),
};

export const dialects: readonly Dialect[] = [chat, responses, messages];

export const frameOf = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
