import { ApiProblem, NetworkProblem } from "#client/lib/api.ts";
import type { Conversation, Message } from "#contract/conversations.ts";
import type { AttachedFile, Part, PictureOptions, PicturePart, Receipt, StartEvent } from "#contract/generations/generations.ts";
import type { ClipOptions, ClipPart, ProgressEvent } from "#contract/generations/media.ts";
import type { RecordingReceipt, SpeechOptions, SpeechReceipt } from "#contract/generations/sounds.ts";
import { branchTo } from "./branches.ts";

export type ThreadMessage = Message;

/** The answer under way in a thread. */
export interface LiveAnswer {
  modelId: string;
  /** The held price in credits; null until the server has answered. */
  credits: number | null;
  generationId: string | null;
  /** The question it answers, and the id of its own message; null until the server has answered. */
  questionId: string | null;
  answerId: string | null;
  text: string;
  /** How pictures were asked for; absent from other answers. */
  picture?: PictureOptions;
  /** What the receipt says. */
  speech?: SpeechReceipt;
  recording?: RecordingReceipt;
  /** By their places, from 0: what each picture looks like so far, and those that are finished. */
  previews: readonly (string | undefined)[];
  pictures: readonly (PicturePart | undefined)[];
  /** How a clip was asked for, how far it is, and the clip once it is there. */
  clip?: ClipOptions;
  progress: ProgressEvent | null;
  film: ClipPart | null;
  /** `sending` until the server has accepted the prompt; `lost` while we reconnect. */
  phase: "sending" | "waiting" | "streaming" | "lost";
  stopping: boolean;
  trimmedMessages: number;
}

/** The place of a send in a conversation: after an answer (null: at the beginning), or an existing question that is asked again. */
export type Place = { parentId: string | null } | { questionId: string };

/** A prompt that did not come from the composer: an edited question, the same question again, or a request to continue an answer. */
export interface Again {
  modelId: string;
  prompt: string;
  place: Place;
  /** The files of an edited question. */
  attached?: readonly AttachedFile[];
  /** For a model that makes pictures. */
  picture?: PictureOptions;
  /** For a model that makes clips. */
  clip?: ClipOptions;
  /** For a model that reads aloud. */
  speech?: SpeechOptions;
}

/** The files of a question. */
export function filesOf({ parts }: ThreadMessage): readonly AttachedFile[] {
  return parts.flatMap((part) => (part.kind === "attachments" ? part.files : []));
}

/** Why the last send was refused. Nothing was charged. If the prompt came from the composer, it is there again. */
export interface Refusal {
  code: string;
  detail: string;
  needed: number | undefined;
  available: number | undefined;
  quotedCredits: number | undefined;
  /** When a rate-limited send may be tried again, in milliseconds of this device's clock. */
  retryAtMs: number | undefined;
  /** What was sent, if it did not come from the composer. */
  again: Again | null;
}

export interface Thread {
  load: "ready" | "loading" | "failed" | "missing";
  /** The messages of all branches, oldest first. */
  all: readonly ThreadMessage[];
  /** The end of the branch that is shown; null: the newest. */
  headId: string | null;
  /** The messages of the branch that is shown. */
  messages: readonly ThreadMessage[];
  live: LiveAnswer | null;
  refusal: Refusal | null;
}

/** The thread that has no conversation yet. */
export const newThreadKey = "new";

/** The newest answer to a question; undefined if it has none, or one that is still running. */
export function latestAnswer(all: readonly ThreadMessage[], question: Pick<ThreadMessage, "id">): ThreadMessage | undefined {
  return all.findLast(({ parentId }) => parentId === question.id);
}

export const emptyThread: Thread = { load: "ready", all: [], headId: null, messages: [], live: null, refusal: null };

/** The thread with these messages, showing the branch that ends with `headId`. */
export function showing(thread: Thread, all: readonly ThreadMessage[], headId: string | null): Thread {
  return { ...thread, all, headId, messages: branchTo(all, headId) };
}

export function toRefusal(error: unknown): Refusal {
  const none = { needed: undefined, available: undefined, quotedCredits: undefined, retryAtMs: undefined, again: null };
  if (error instanceof NetworkProblem) return { ...none, code: "network", detail: error.message };
  if (!(error instanceof ApiProblem)) return { ...none, code: "unexpected", detail: String(error) };
  const { detail, needed, available, quotedCredits, retryAfterSeconds } = error;
  // A server error gets the same text as every other unexpected failure (spec §8, chat error reply).
  const code = error.code === "internal_error" ? "unexpected" : error.code;
  const retryAtMs = retryAfterSeconds === undefined ? undefined : Date.now() + retryAfterSeconds * 1000;
  return { code, detail, needed, available, quotedCredits, retryAtMs, again: null };
}

const nothingYet = { text: "", previews: [], pictures: [], progress: null, film: null, stopping: false };

/** How a picture, a clip, speech or a transcript was asked for. */
export type Wish = Pick<LiveAnswer, "picture" | "clip" | "speech" | "recording">;

/** The wish with only the fields that are set. */
export function wishOf({ picture, clip, speech, recording }: Wish): Wish {
  return { ...(picture && { picture }), ...(clip && { clip }), ...(speech && { speech }), ...(recording && { recording }) };
}

/** An answer whose prompt is being sent. */
export function sending(modelId: string, credits: number, questionId: string, wish: Wish = {}): LiveAnswer {
  const nothing = { ...nothingYet, generationId: null, answerId: null, trimmedMessages: 0 };
  return { ...nothing, modelId, credits, questionId, ...wish, phase: "sending" };
}

/** Whether a stop is too late: a clip goes on once its provider has begun. */
export function isUnstoppable({ clip, progress }: LiveAnswer): boolean {
  return clip !== undefined && progress !== null && progress.state !== "queued";
}

/** Whether something has arrived that is charged if the answer is stopped now. */
export function hasOutput({ text, pictures }: LiveAnswer): boolean {
  return text !== "" || pictures.some((picture) => picture !== undefined);
}

/** What an answer costs if it is stopped now. Of pictures, the finished ones count. Speech costs nothing until it is finished. */
export function stopCredits({ credits, picture, pictures, speech }: LiveAnswer): number | null {
  if (speech) return 0;
  if (credits === null || !picture) return credits;
  return (credits / picture.count) * pictures.filter((each) => each !== undefined).length;
}

/** The thread after the server has accepted the prompt: the question gets the server's id. */
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
  const known = { generationId, modelId, trimmedMessages, questionId, answerId: turn?.answerId ?? null, ...wishOf(start) };
  return { ...showing(thread, all, rename(thread.headId)), live: { ...live, ...known, credits: heldCredits, phase } };
}

/** The thread after the answer has ended. What arrived stays, however the answer ended. `more`: the parts besides text and pictures. */
export function afterReceipt(thread: Thread, receipt: Receipt, text: string, more: readonly Part[]): Thread {
  const { live } = thread;
  const pictures = live?.pictures.filter((picture) => picture !== undefined) ?? [];
  const made = more.filter(({ kind }) => kind === "sound");
  const answer: ThreadMessage = {
    id: live?.answerId ?? receipt.generationId,
    parentId: live?.questionId ?? null,
    role: "assistant",
    parts: text === "" ? [...pictures, ...(live?.film ? [live.film] : []), ...made] : [{ kind: "text", text }, ...more],
    timestamp: receipt.endedAt ?? receipt.createdAt,
    receipt,
  };
  const all = [...thread.all.filter((message) => message.id !== answer.id), answer];
  // If the person is looking at another version, keep showing that one.
  const headId = thread.headId === answer.parentId ? answer.id : thread.headId;
  return { ...showing(thread, all, headId), live: null };
}

/**
 * The thread of a conversation that the server returned. A running answer is left out of the messages, because it is streamed again from
 * its first word.
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
  const asked = { ...ids, modelId, credits: heldCredits, trimmedMessages, ...wishOf(running.receipt) };
  return { ...thread, live: { ...nothingYet, ...asked, phase: "waiting" } };
}
