/** Chooses the messages of a conversation that go to the model, so that the fixed price always covers the cost. */
import { tokensPerMessage } from "#domain/attachments.ts";
import { DomainError } from "#domain/errors.ts";
import { parametersOf } from "#domain/model-parameters.ts";
import type { Model } from "#domain/models.ts";
import { longestInputTokens } from "#domain/provider-prices.ts";
import { codePoints } from "#domain/rules.ts";
import { countTokens } from "#domain/tokens.ts";
import type { Attachment } from "../../db/types-answers.ts";

export interface ChatMessage {
  role: "user" | "assistant";
  content: string;
  /** Only a question has them. */
  attachments?: readonly Attachment[];
  /** Only a question has them: the pictures that a model has made before it, for a model that sees pictures. */
  pictures?: readonly Attachment[];
}

export function estimateTokens(text: string): number {
  return countTokens(text) + tokensPerMessage;
}

/** The refusal of a prompt that is longer than the model takes, or than its price covers. Recordings and speech are priced by their length. */
export function findTooLong(model: Model, prompt: string): DomainError | undefined {
  if (model.category === "audio") return undefined;
  const { promptCharacters = Number.POSITIVE_INFINITY } = parametersOf(model);
  const longest = longestInputTokens(model) || Number.POSITIVE_INFINITY;
  if (codePoints(prompt) <= promptCharacters && estimateTokens(prompt) <= longest) return undefined;
  return new DomainError("prompt_too_long", `This prompt is too long for ${model.name}`);
}

/** How many tokens are left for earlier messages, after the prompt, which is never cut, and its files. */
export function historyBudget(model: Model, prompt: string, attachmentTokens: number): number {
  return Math.max(model.inputTokenLimit - estimateTokens(prompt) - attachmentTokens, 0);
}

/**
 * Returns the newest messages that fit, and the question. `recent` are the newest ones, oldest first, of `total` in the conversation. The result
 * begins with a question, because several providers refuse a conversation that begins with an answer.
 */
export function trimHistory(
  recent: readonly ChatMessage[],
  total: number,
  question: Omit<ChatMessage, "role">,
): { messages: ChatMessage[]; trimmedMessages: number } {
  const first = recent.findIndex((message) => message.role === "user");
  const kept = first < 0 ? [] : recent.slice(first);
  return { messages: [...kept, { role: "user", ...question }], trimmedMessages: total - kept.length };
}
