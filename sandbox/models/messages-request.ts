/** Requests for Anthropic's Messages. */
import { parametersOf } from "#domain/model-parameters.ts";
import type { Model } from "#domain/models.ts";
import { readContent } from "./content.ts";
import type { Fields } from "./fields.ts";
import { booleanField, isFields, numberField, refuseOthers, wordField } from "./fields.ts";
import { invalidRequest } from "./openai-error.ts";
import type { AskedMessage, ReadRequest } from "./requests.ts";
import { checkedPromptTokens, readList, readRole } from "./requests.ts";
import type { Effort } from "./thinking.ts";
import { refuseSampling } from "./thinking.ts";

const userParts = ["text", "image", "document"];
const known = ["model", "messages", "stream", "max_tokens", "thinking", "output_config", "system", "temperature", "top_p", "top_k"];

function readMessage(value: unknown, index: number, model: Model): AskedMessage {
  const param = `messages.${index}`;
  if (!isFields(value)) throw invalidRequest(`${param}: Input should be an object`, param);
  const role = readRole(value.role, ["user", "assistant"], param);
  return { role, ...readContent(value.content, role === "user" ? userParts : ["text"], `${param}.content`, model) };
}

/** Models that think refuse a conversation that ends with the beginning of their answer (prefill). */
function readMessages(value: unknown, model: Model): AskedMessage[] {
  const messages = readList(value, "messages").map((each, index) => readMessage(each, index, model));
  if (parametersOf(model).effort !== undefined && messages.at(-1)?.role === "assistant")
    throw invalidRequest(
      "This model does not support assistant message prefill. The conversation must end with a user message.",
      "messages",
    );
  return messages;
}

/** Thinking has an effort, and some models can switch it off. A budget of thinking tokens is refused, as current models do. */
function readEffort(body: Fields, model: Model): Effort | undefined {
  const { effort } = parametersOf(model);
  const thinking = isFields(body.thinking) ? body.thinking : undefined;
  const output = isFields(body.output_config) ? body.output_config : {};
  refuseOthers(output, ["effort"], "output_config.");
  if (effort === undefined && (thinking ?? body.output_config) !== undefined)
    throw invalidRequest("thinking: Extra inputs are not permitted for this model. (The sandbox does not play it.)", "thinking");
  const type = thinking && wordField(thinking, "type", effort === "none" ? ["adaptive", "disabled"] : ["adaptive"], "thinking.");
  const asked = wordField(output, "effort", ["low", "medium", "high", "xhigh", "max"], "output_config.");
  return type === "disabled" ? "none" : asked;
}

export const readMessagesRequest: ReadRequest = (body, model) => {
  refuseOthers(body, known);
  const maximumTokens = numberField(body, "max_tokens", 1, 128_000, true);
  if (maximumTokens === undefined) throw invalidRequest("max_tokens: Field required", "max_tokens");
  if (!booleanField(body, "stream")) throw invalidRequest("stream: Input should be true (the sandbox streams messages only)", "stream");
  numberField(body, "temperature", 0, 1, false);
  refuseSampling(model, body);
  const messages = readMessages(body.messages, model);
  return {
    messages,
    stream: true,
    includeUsage: true,
    maximumTokens,
    effort: readEffort(body, model),
    searches: false,
    promptTokens: checkedPromptTokens(messages, "messages"),
  };
};
