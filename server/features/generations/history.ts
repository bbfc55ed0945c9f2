/** Chooses the messages of a conversation that go to the model, so that the fixed price always covers the cost. */
import type { Model } from "#domain/models.ts";

export interface ChatMessage {
  role: "user" | "assistant";
  content: string;
}

/**
 * We estimate three bytes of UTF-8 for each token and four tokens around each message, for every provider. Latin text has about four bytes
 * in a token and Chinese text about three, so the estimate is rather too high and we send rather too few messages.
 */
export const bytesPerToken = 3;
export const tokensPerMessage = 4;

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken) + tokensPerMessage;
}

/** How many tokens are left for earlier messages. The prompt itself is never cut. */
export function historyBudget(model: Model, prompt: string): number {
  return Math.max(model.inputTokenLimit - estimateTokens(prompt), 0);
}

/**
 * Returns the newest messages that fit. `recent` are the newest ones, oldest first, of `total` in the conversation. The result begins with
 * a question, because several providers refuse a conversation that begins with an answer.
 */
export function trimHistory(
  recent: readonly ChatMessage[],
  total: number,
  prompt: string,
): { messages: ChatMessage[]; trimmedMessages: number } {
  const first = recent.findIndex((message) => message.role === "user");
  const kept = first < 0 ? [] : recent.slice(first);
  return { messages: [...kept, { role: "user", content: prompt }], trimmedMessages: total - kept.length };
}
