import { ApiProblem, NetworkProblem } from "#client/lib/api.ts";
import type { Conversation, Receipt, StartEvent } from "#contract/generations.ts";

export interface ThreadMessage {
  id: string;
  role: "user" | "assistant";
  content: string;
  timestamp: string;
  receipt: Receipt | null;
}

/** The answer under way in a thread. */
export interface LiveAnswer {
  modelId: string;
  /** The price held, in credits; null until the server has said it. */
  credits: number | null;
  generationId: string | null;
  text: string;
  /** `sending` until the server has taken the prompt; `lost` while the connection is being restored. */
  phase: "sending" | "waiting" | "streaming" | "lost";
  stopping: boolean;
  trimmedMessages: number;
}

/** A prompt sent from below an answer: asking the same again, or for the rest of it. */
export interface Again {
  answerId: string;
  modelId: string;
  prompt: string;
}

/** Why the last send was not taken. Nothing was charged; the prompt is back in the composer, where it came from there. */
export interface Refusal {
  code: string;
  detail: string;
  needed: number | undefined;
  available: number | undefined;
  quotedCredits: number | undefined;
  /** Milliseconds of this device's clock from which on a rate-limited send may be tried again. */
  retryAtMs: number | undefined;
  /** What was sent, where it did not come from the composer. */
  again: Again | null;
}

export interface Thread {
  load: "ready" | "loading" | "failed" | "missing";
  messages: readonly ThreadMessage[];
  live: LiveAnswer | null;
  refusal: Refusal | null;
}

/** The thread that has no conversation yet. */
export const newThreadKey = "new";

export const emptyThread: Thread = { load: "ready", messages: [], live: null, refusal: null };

export function toRefusal(error: unknown): Refusal {
  const none = { needed: undefined, available: undefined, quotedCredits: undefined, retryAtMs: undefined, again: null };
  if (error instanceof NetworkProblem) return { ...none, code: "network", detail: error.message };
  if (!(error instanceof ApiProblem)) return { ...none, code: "unexpected", detail: String(error) };
  const { detail, needed, available, quotedCredits, retryAfterSeconds } = error;
  // A fault of the server's own reads like any other that nobody expected (spec §8, chat error reply).
  const code = error.code === "internal_error" ? "unexpected" : error.code;
  const retryAtMs = retryAfterSeconds === undefined ? undefined : Date.now() + retryAfterSeconds * 1000;
  return { code, detail, needed, available, quotedCredits, retryAtMs, again: null };
}

/** An answer about to be asked for. */
export function sending(modelId: string, credits: number): LiveAnswer {
  return { modelId, credits, generationId: null, text: "", phase: "sending", stopping: false, trimmedMessages: 0 };
}

export function afterStart(live: LiveAnswer, start: StartEvent): LiveAnswer {
  const { generationId, modelId, heldCredits, trimmedMessages } = start;
  return { ...live, generationId, modelId, credits: heldCredits, trimmedMessages, phase: live.text === "" ? "waiting" : "streaming" };
}

/** The thread with its answer ended and receipted; what arrived of the text stays, whatever the end. */
export function afterReceipt(thread: Thread, receipt: Receipt, text: string): Thread {
  const timestamp = receipt.endedAt ?? receipt.createdAt;
  const answer: ThreadMessage = { id: receipt.generationId, role: "assistant", content: text, timestamp, receipt };
  return { ...thread, live: null, messages: [...thread.messages.filter((message) => message.id !== answer.id), answer] };
}

/**
 * A question whose answer ended without a word carries the receipt itself; on the screen the receipt stands where the
 * answer would.
 */
function withSilentAnswer(message: ThreadMessage): ThreadMessage[] {
  const { receipt } = message;
  if (message.role === "assistant" || receipt === null) return [message];
  const answer: ThreadMessage = { ...message, id: receipt.generationId, role: "assistant", content: "", receipt };
  return [{ ...message, receipt: null }, answer];
}

/**
 * A conversation as the server tells it. An answer still under way is left out of the messages: it is streamed again from
 * its first word, so that nothing is lost or doubled.
 */
export function fromConversation(conversation: Conversation): Thread {
  const { streamingGenerationId: streaming, messages: told } = conversation;
  const messages = told.flatMap(withSilentAnswer).filter((message) => streaming === null || message.receipt?.generationId !== streaming);
  const receipt = told.findLast((message) => message.receipt?.generationId === streaming)?.receipt;
  const live: LiveAnswer | null =
    streaming === null
      ? null
      : {
          modelId: receipt?.modelId ?? "",
          credits: receipt?.heldCredits ?? null,
          generationId: streaming,
          text: "",
          phase: "waiting",
          stopping: false,
          trimmedMessages: receipt?.trimmedMessages ?? 0,
        };
  return { load: "ready", messages, live, refusal: null };
}
