import { ApiProblem, NetworkProblem } from "#client/lib/api.ts";
import type { Conversation, Message, Receipt, StartEvent } from "#contract/generations.ts";
import { branchTo } from "./branches.ts";

export type ThreadMessage = Message;

/** The answer under way in a thread. */
export interface LiveAnswer {
  modelId: string;
  /** The price held, in credits; null until the server has said it. */
  credits: number | null;
  generationId: string | null;
  /** The question it answers, and the message it will be; null until the server has said it. */
  questionId: string | null;
  answerId: string | null;
  text: string;
  /** `sending` until the server has taken the prompt; `lost` while the connection is being restored. */
  phase: "sending" | "waiting" | "streaming" | "lost";
  stopping: boolean;
  trimmedMessages: number;
}

/** Where a send goes in a conversation: after an answer, or before the first (null); or to a question that is there. */
export type Place = { parentId: string | null } | { questionId: string };

/** A prompt that never stood in the composer: an edited one, the same once more, or for the rest of an answer. */
export interface Again {
  modelId: string;
  prompt: string;
  place: Place;
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
  /** Of all branches, oldest first. */
  all: readonly ThreadMessage[];
  /** The end of the branch that is shown; null: the newest. */
  headId: string | null;
  /** The branch that is shown. */
  messages: readonly ThreadMessage[];
  live: LiveAnswer | null;
  refusal: Refusal | null;
}

/** The thread that has no conversation yet. */
export const newThreadKey = "new";

export const emptyThread: Thread = { load: "ready", all: [], headId: null, messages: [], live: null, refusal: null };

/** The thread with these messages, and the branch to `headId` on show. */
export function showing(thread: Thread, all: readonly ThreadMessage[], headId: string | null): Thread {
  return { ...thread, all, headId, messages: branchTo(all, headId) };
}

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
export function sending(modelId: string, credits: number, questionId: string): LiveAnswer {
  const nothing = { generationId: null, answerId: null, text: "", stopping: false, trimmedMessages: 0 };
  return { ...nothing, modelId, credits, questionId, phase: "sending" };
}

/** The thread once the server has taken the prompt: the question gets the id it has there. */
export function afterStart(thread: Thread, start: StartEvent): Thread {
  const { live } = thread;
  if (!live) return thread;
  const { generationId, modelId, heldCredits, trimmedMessages, turn } = start;
  const questionId = turn?.questionId ?? live.questionId;
  const rename = (id: string | null) => (id === live.questionId ? questionId : id);
  const all = thread.all.map((message) =>
    message.id === live.questionId && questionId !== null ? { ...message, id: questionId } : message,
  );
  const phase = live.text === "" ? "waiting" : "streaming";
  const known = { generationId, modelId, trimmedMessages, questionId, answerId: turn?.answerId ?? null };
  return { ...showing(thread, all, rename(thread.headId)), live: { ...live, ...known, credits: heldCredits, phase } };
}

/** The thread with its answer ended and receipted; what arrived of the text stays, whatever the end. */
export function afterReceipt(thread: Thread, receipt: Receipt, text: string): Thread {
  const { live } = thread;
  const answer: ThreadMessage = {
    id: live?.answerId ?? receipt.generationId,
    parentId: live?.questionId ?? null,
    role: "assistant",
    parts: text === "" ? [] : [{ kind: "text", text }],
    timestamp: receipt.endedAt ?? receipt.createdAt,
    receipt,
  };
  const all = [...thread.all.filter((message) => message.id !== answer.id), answer];
  // Whoever looks at another version meanwhile goes on looking at it.
  const headId = thread.headId === answer.parentId ? answer.id : thread.headId;
  return { ...showing(thread, all, headId), live: null };
}

/**
 * A conversation as the server tells it. An answer still under way is left out of the messages: it is streamed again from
 * its first word, so that nothing is lost or doubled.
 */
export function fromConversation(conversation: Conversation): Thread {
  const { streamingGenerationId: streaming, messages, headId } = conversation;
  const running = streaming === null ? undefined : messages.find((message) => message.receipt?.generationId === streaming);
  const thread = showing(
    emptyThread,
    messages.filter((message) => message !== running),
    running && headId === running.id ? running.parentId : headId,
  );
  if (!running?.receipt) return thread;
  const { modelId, heldCredits, generationId, trimmedMessages } = running.receipt;
  const ids = { generationId, questionId: running.parentId, answerId: running.id };
  return { ...thread, live: { ...ids, modelId, credits: heldCredits, trimmedMessages, text: "", phase: "waiting", stopping: false } };
}
