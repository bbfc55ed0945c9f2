/** What a request asks for, whichever protocol it came in. */
import type { Model } from "#domain/models.ts";
import { invalidRequest } from "./openai-error.ts";
import type { Effort } from "./thinking.ts";
import { countPromptTokens } from "./tokens.ts";

export interface AskedMessage {
  role: string;
  text: string;
  /** A description of each picture or file that came with the text. */
  seen?: readonly string[];
  mediaTokens?: number;
}

export interface AnswerRequest {
  messages: readonly AskedMessage[];
  stream: boolean;
  /** Chat completions report their usage only when asked for it. */
  includeUsage: boolean;
  /** Undefined for no limit. */
  maximumTokens: number | undefined;
  effort: Effort | undefined;
  /** The model may search the web. */
  searches: boolean;
  promptTokens: number;
}

/** Reads a request to this model. Throws an OpenAiError (400) that names the invalid parameter. */
export type ReadRequest = (body: Readonly<Record<string, unknown>>, model: Model) => AnswerRequest;

const contextTokenLimit = 256_000;

export function checkedPromptTokens(messages: readonly AskedMessage[], param: string): number {
  const promptTokens =
    countPromptTokens(messages.map(({ text }) => text)) + messages.reduce((sum, { mediaTokens = 0 }) => sum + mediaTokens, 0);
  if (promptTokens <= contextTokenLimit) return promptTokens;
  const message = `This model's maximum context length is ${contextTokenLimit} tokens. However, your messages resulted in ${promptTokens} tokens.`;
  throw invalidRequest(message, param, "context_length_exceeded");
}

export function readList(value: unknown, param: string): readonly unknown[] {
  if (value === undefined) throw invalidRequest(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
  if (!Array.isArray(value)) throw invalidRequest(`Invalid type for '${param}': expected an array of objects.`, param, "invalid_type");
  if (value.length === 0)
    throw invalidRequest(`Invalid '${param}': empty array. Expected an array with minimum length 1.`, param, "empty_array");
  return value;
}

export function readRole(role: unknown, roles: readonly string[], param: string): string {
  if (typeof role === "string" && roles.includes(role)) return role;
  const expected = roles.map((name) => `'${name}'`).join(", ");
  throw invalidRequest(`Invalid value for '${param}.role': expected one of ${expected}.`, `${param}.role`, "invalid_value");
}
