/** Requests for chat completions. */
import type { Model } from "#domain/models.ts";
import { readContent } from "./content.ts";
import type { Fields } from "./fields.ts";
import { booleanField, isFields, numberField, wordField } from "./fields.ts";
import { extraForbidden, invalidRequest } from "./openai-error.ts";
import type { AskedMessage, ReadRequest } from "./requests.ts";
import { checkedPromptTokens, readList, readRole } from "./requests.ts";
import type { Effort } from "./thinking.ts";
import { efforts, refuseSampling } from "./thinking.ts";

const userParts = ["text", "image_url", "file"];
const roles = ["system", "developer", "user", "assistant", "tool"];

function readMessage(value: unknown, index: number, model: Model): AskedMessage {
  const param = `messages[${index}]`;
  if (!isFields(value)) throw invalidRequest(`Invalid type for '${param}': expected an object.`, param, "invalid_type");
  const role = readRole(value.role, roles, param);
  const isEmpty = (value.content ?? undefined) === undefined && role === "assistant";
  if (isEmpty) return { role, text: "" };
  return { role, ...readContent(value.content, role === "user" ? userParts : ["text"], `${param}.content`, model) };
}

/** Mistral refuses `stream_options`, and always sends the usage. */
function readIncludeUsage(body: Fields, stream: boolean, { provider }: Model): boolean {
  const options = body.stream_options ?? undefined;
  if (provider === "mistral") {
    if (options !== undefined) throw extraForbidden("stream_options", options);
    return true;
  }
  if (options === undefined) return false;
  if (!stream) throw invalidRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
  if (!isFields(options)) throw invalidRequest("Invalid type for 'stream_options': expected an object.", "stream_options", "invalid_type");
  return booleanField(options, "include_usage", "stream_options.");
}

/** OpenAI's thinking models accept the limit only under its new name. */
function readLimit(body: Fields, { provider }: Model): number | undefined {
  const limit = numberField(body, "max_completion_tokens", 1, 1_000_000, true);
  const old = numberField(body, "max_tokens", 1, 1_000_000, true);
  if (provider === "openai" && old !== undefined) {
    const message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    throw invalidRequest(message, "max_tokens", "unsupported_parameter");
  }
  return limit ?? old;
}

/** DeepSeek has a switch instead of an effort. xAI's models always think. */
function readEffort(body: Fields, { provider }: Model): Effort | undefined {
  if (provider === "xai") return wordField(body, "reasoning_effort", ["low", "medium", "high"]) ?? "high";
  if (provider !== "deepseek") return wordField(body, "reasoning_effort", efforts);
  const type = wordField(isFields(body.thinking) ? body.thinking : {}, "type", ["enabled", "disabled"], "thinking.");
  return type && (type === "disabled" ? "none" : "high");
}

export const readChatRequest: ReadRequest = (body, model) => {
  const messages = readList(body.messages, "messages").map((value, index) => readMessage(value, index, model));
  const stream = booleanField(body, "stream");
  numberField(body, "temperature", 0, 2, false);
  numberField(body, "top_p", 0, 1, false);
  numberField(body, "n", 1, 1, true);
  // DeepSeek accepts sampling parameters and ignores them.
  if (model.provider !== "deepseek") refuseSampling(model, body);
  return {
    messages,
    stream,
    includeUsage: readIncludeUsage(body, stream, model),
    maximumTokens: readLimit(body, model),
    effort: readEffort(body, model),
    searches: model.category === "search",
    promptTokens: checkedPromptTokens(messages, "messages"),
  };
};
