/** The frames of Anthropic's Messages. What the model thinks is left out, as it is by default. */
import type { Answer, Frames } from "./answer.ts";
import { filterWord } from "./filter-words.ts";

const event = (type: string, fields: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const stopReasons = { complete: "end_turn", length: "max_tokens", content_filter: "refusal", tool_calls: "tool_use" } as const;

export function messageFrames({ id, model, finish, fault, promptTokens, thinkingTokens }: Answer): Frames {
  const index = thinkingTokens > 0 ? 1 : 0;
  const thought =
    event("content_block_start", { index: 0, content_block: { type: "thinking", thinking: "", signature: "" } }) +
    event("content_block_delta", { index: 0, delta: { type: "signature_delta", signature: "c2FuZGJveA==" } }) +
    event("content_block_stop", { index: 0 });
  const message = { id, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null };
  const input = { input_tokens: promptTokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  return {
    begin: (withUsage) =>
      event("message_start", { message: { ...message, usage: withUsage ? { ...input, output_tokens: 1 } : {} } }) +
      (thinkingTokens > 0 ? thought : "") +
      event("content_block_start", { index, content_block: { type: "text", text: "" } }) +
      event("ping"),
    token: (text) => event("content_block_delta", { index, delta: { type: "text_delta", text } }),
    end(completionTokens, withUsage) {
      const details =
        finish === "content_filter" ? { type: "refusal", category: filterWord("anthropic", fault) ?? null, explanation: null } : null;
      const usage = { output_tokens: completionTokens, output_tokens_details: { thinking_tokens: thinkingTokens } };
      const delta = { stop_reason: stopReasons[finish], stop_sequence: null, stop_details: details };
      return (
        event("content_block_stop", { index }) + event("message_delta", { delta, ...(withUsage ? { usage } : {}) }) + event("message_stop")
      );
    },
  };
}
