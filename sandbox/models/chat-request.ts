import { invalidRequest } from "./openai-error.ts";
import { countPromptTokens } from "./tokens.ts";

export interface ChatMessage {
  role: string;
  text: string;
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  stream: boolean;
  includeUsage: boolean;
  /** Undefined for no limit. */
  maximumTokens: number | undefined;
  promptTokens: number;
}

const roles = ["system", "developer", "user", "assistant", "tool"];
const contextTokenLimit = 128_000;

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Null counts as absent, as at OpenAI. */
function booleanField(fields: Fields, name: string, prefix = ""): boolean {
  const value = fields[name] ?? false;
  if (typeof value !== "boolean")
    throw invalidRequest(`Invalid type for '${prefix}${name}': expected a boolean.`, prefix + name, "invalid_type");
  return value;
}

function numberField(fields: Fields, name: string, minimum: number, maximum: number, whole: boolean): number | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw invalidRequest(`Invalid type for '${name}': expected a number.`, name, "invalid_type");
  if (whole && !Number.isSafeInteger(value)) throw invalidRequest(`Invalid type for '${name}': expected an integer.`, name, "invalid_type");
  if (value < minimum || value > maximum) {
    throw invalidRequest(`Invalid '${name}': expected a value from ${minimum} to ${maximum}, got ${value}.`, name, "invalid_value");
  }
  return value;
}

function readContent(content: unknown, role: string, param: string): string {
  if (typeof content === "string") return content;
  if ((content === null || content === undefined) && role === "assistant") return "";
  if (!Array.isArray(content))
    throw invalidRequest(`Invalid type for '${param}': expected a string or an array of parts.`, param, "invalid_type");
  return content
    .map((part: unknown, index) => {
      if (isFields(part) && part.type === "text" && typeof part.text === "string") return part.text;
      throw invalidRequest(
        `Invalid value for '${param}[${index}]': the sandbox's text models take parts of type 'text' only.`,
        `${param}[${index}]`,
        "invalid_value",
      );
    })
    .join("\n");
}

function readMessage(value: unknown, index: number): ChatMessage {
  const param = `messages[${index}]`;
  if (!isFields(value)) throw invalidRequest(`Invalid type for '${param}': expected an object.`, param, "invalid_type");
  const role = value.role;
  if (typeof role !== "string" || !roles.includes(role)) {
    throw invalidRequest(
      `Invalid value for '${param}.role': expected one of ${roles.map((name) => `'${name}'`).join(", ")}.`,
      `${param}.role`,
      "invalid_value",
    );
  }
  return { role, text: readContent(value.content, role, `${param}.content`) };
}

function readMessages(value: unknown): ChatMessage[] {
  if (value === undefined) throw invalidRequest("Missing required parameter: 'messages'.", "messages", "missing_required_parameter");
  if (!Array.isArray(value)) throw invalidRequest("Invalid type for 'messages': expected an array of objects.", "messages", "invalid_type");
  if (value.length === 0)
    throw invalidRequest("Invalid 'messages': empty array. Expected an array with minimum length 1.", "messages", "empty_array");
  return value.map(readMessage);
}

function readIncludeUsage(body: Fields, stream: boolean): boolean {
  const options = body.stream_options ?? undefined;
  if (options === undefined) return false;
  if (!stream) throw invalidRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
  if (!isFields(options)) throw invalidRequest("Invalid type for 'stream_options': expected an object.", "stream_options", "invalid_type");
  return booleanField(options, "include_usage", "stream_options.");
}

/** Throws an OpenAiError (400) that names the invalid parameter. */
export function readChatRequest(body: unknown): ChatRequest {
  if (!isFields(body)) throw invalidRequest("We could not parse the JSON body of your request. Expected an object.", null);
  const model = body.model;
  if (model === undefined) throw invalidRequest("you must provide a model parameter", "model", "missing_required_parameter");
  if (typeof model !== "string") throw invalidRequest("Invalid type for 'model': expected a string.", "model", "invalid_type");
  const messages = readMessages(body.messages);
  const stream = booleanField(body, "stream");
  numberField(body, "temperature", 0, 2, false);
  numberField(body, "top_p", 0, 1, false);
  numberField(body, "n", 1, 1, true);
  const maximumTokens =
    numberField(body, "max_completion_tokens", 1, 1_000_000, true) ?? numberField(body, "max_tokens", 1, 1_000_000, true);
  const promptTokens = countPromptTokens(messages.map((message) => message.text));
  if (promptTokens > contextTokenLimit) {
    const message = `This model's maximum context length is ${contextTokenLimit} tokens. However, your messages resulted in ${promptTokens} tokens.`;
    throw invalidRequest(message, "messages", "context_length_exceeded");
  }
  return { model, messages, stream, includeUsage: readIncludeUsage(body, stream), maximumTokens, promptTokens };
}
