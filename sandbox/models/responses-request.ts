/** Requests for Responses: OpenAI's, and those that Perplexity's Agent API takes. */
import type { Model } from "#domain/models.ts";
import { readContent } from "./content.ts";
import type { Fields } from "./fields.ts";
import { booleanField, isFields, numberField, refuseOthers, wordField } from "./fields.ts";
import { invalidRequest } from "./openai-error.ts";
import type { AskedMessage, ReadRequest } from "./requests.ts";
import { checkedPromptTokens, readList, readRole } from "./requests.ts";
import { efforts, refuseSampling } from "./thinking.ts";

const userParts = ["input_text", "input_image", "input_file"];
const roles = ["system", "developer", "user", "assistant"];
const known = ["model", "input", "stream", "max_output_tokens", "reasoning", "tools", "temperature", "top_p"];

function readItem(value: unknown, index: number, model: Model): AskedMessage {
  const param = `input[${index}]`;
  if (!isFields(value)) throw invalidRequest(`Invalid type for '${param}': expected an object.`, param, "invalid_type");
  wordField(value, "type", ["message"], `${param}.`);
  const role = readRole(value.role, roles, param);
  return { role, ...readContent(value.content, role === "user" ? userParts : ["input_text", "output_text"], `${param}.content`, model) };
}

function readInput(input: unknown, model: Model): AskedMessage[] {
  if (typeof input === "string") return [{ role: "user", text: input }];
  return readList(input, "input").map((value, index) => readItem(value, index, model));
}

function readSearches(body: Fields, { provider }: Model): boolean {
  const tools = body.tools ?? [];
  if (!Array.isArray(tools)) throw invalidRequest("Invalid type for 'tools': expected an array of objects.", "tools", "invalid_type");
  tools.forEach((tool: unknown, index) => {
    const fields = isFields(tool) ? tool : {};
    if (wordField(fields, "type", ["web_search"], `tools[${index}].`) === undefined)
      throw invalidRequest(`Missing required parameter: 'tools[${index}].type'.`, `tools[${index}].type`, "missing_required_parameter");
    refuseOthers(
      fields,
      ["type", "search_context_size", ...(provider === "perplexity" ? ["max_tokens", "max_tokens_per_page"] : [])],
      `tools[${index}].`,
    );
    wordField(fields, "search_context_size", ["low", "medium", "high"], `tools[${index}].`);
    numberField(fields, "max_tokens", 1, 1_000_000, true);
    numberField(fields, "max_tokens_per_page", 1, 1_000_000, true);
  });
  return tools.length > 0;
}

/** The providers limit searches by different fields: OpenAI by the number of tool calls, Perplexity by the number of rounds. */
function readOwn(body: Fields, { provider }: Model): void {
  const own = provider === "perplexity" ? ["max_steps"] : ["store", "max_tool_calls"];
  refuseOthers(body, [...known, ...own]);
  numberField(body, "max_steps", 1, 10, true);
  numberField(body, "max_tool_calls", 1, 1_000, true);
  booleanField(body, "store");
}

export const readResponsesRequest: ReadRequest = (body, model) => {
  readOwn(body, model);
  if (!booleanField(body, "stream"))
    throw invalidRequest("Unsupported value: 'stream' is false. (The sandbox streams responses only.)", "stream", "unsupported_value");
  const messages = readInput(body.input, model);
  const reasoning = isFields(body.reasoning) ? body.reasoning : {};
  refuseOthers(reasoning, ["effort"], "reasoning.");
  refuseSampling(model, body);
  return {
    messages,
    stream: true,
    includeUsage: true,
    maximumTokens: numberField(body, "max_output_tokens", model.provider === "perplexity" ? 1 : 16, 1_000_000, true),
    effort: wordField(reasoning, "effort", efforts, "reasoning."),
    searches: readSearches(body, model),
    promptTokens: checkedPromptTokens(messages, "input"),
  };
};
