import { create } from "zustand";
import { ApiProblem, api, isAbort } from "#client/lib/api.ts";
import { occupy } from "#client/lib/busy.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { forgetConversation, keepConversation, readKeptConversation } from "#client/offline/conversations.ts";
import { forgetDraft } from "#client/offline/drafts.ts";
import type { Conversation } from "#contract/conversations.ts";
import type { Source } from "#contract/generations/generations.ts";
import type { Segment, SoundPart } from "#contract/generations/sounds.ts";
import type { AnswerSource } from "./answer-stream.ts";
import { followAnswer } from "./answer-stream.ts";
import { endAfter } from "./branches.ts";
import type { Send } from "./send.ts";
import { askedOfSend, partsBeside, questionOf, wishOfSend } from "./send.ts";
import type { LiveAnswer, Thread, ThreadMessage } from "./thread.ts";
import { afterReceipt, afterStart, emptyThread, fromConversation, newThreadKey, sending, showing, toRefusal } from "./thread.ts";

interface ChatState {
  /** By conversation id, or `newThreadKey`. They stay when the person opens another page, because an answer continues meanwhile. */
  threads: Readonly<Record<string, Thread>>;
  /** The available credits from the latest receipt or `insufficient_credits` refusal; null before the first one. */
  lastAvailable: number | null;
}

export const useChat = create<ChatState>(() => ({ threads: {}, lastAvailable: null }));

/** One for each answer we follow. Aborting it ends our stream; the answer itself continues. */
const following = new Map<string, AbortController>();

export function threadOf(key: string): Thread {
  return useChat.getState().threads[key] ?? emptyThread;
}

function update(key: string, change: (thread: Thread) => Thread): void {
  useChat.setState(({ threads }) => ({ threads: { ...threads, [key]: change(threads[key] ?? emptyThread) } }));
}

function updateLive(key: string, change: Partial<LiveAnswer>): void {
  update(key, (thread) => (thread.live ? { ...thread, live: { ...thread.live, ...change } } : thread));
}

function discard(key: string): void {
  useChat.setState(({ threads }) => ({ threads: Object.fromEntries(Object.entries(threads).filter(([other]) => other !== key)) }));
}

function move(from: string, to: string): void {
  const thread = threadOf(from);
  discard(from);
  update(to, () => thread);
}

/** Collects text and passes it on once per animation frame, so that a fast model doesn't render a thousand times a second. */
function perFrame(flush: (text: string) => void): { add(text: string): void; text(): string; stop(): void } {
  let text = "";
  let frame: number | undefined;
  return {
    add(more) {
      text += more;
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        flush(text);
      });
    },
    text: () => text,
    stop() {
      if (frame !== undefined) cancelAnimationFrame(frame);
      frame = undefined;
    },
  };
}

function withAt<Item>(items: readonly (Item | undefined)[], place: number, item: Item): (Item | undefined)[] {
  const changed = [...items];
  changed[place] = item;
  return changed;
}

/** Saves the thread on the device, so that it can be read offline. */
function keepThread(key: string): void {
  const owner = sessionStore.getState().user?.id;
  if (owner !== undefined) void keepConversation(owner, key, threadOf(key).all, threadOf(key).headId);
}

/**
 * Follows `source` and writes it into the thread `startKey`. Calls `onStarted` with the conversation's id once the server has
 * accepted the prompt.
 */
async function follow(startKey: string, source: AnswerSource, onStarted: (conversationId: string) => void): Promise<void> {
  const controller = new AbortController();
  let key = startKey;
  following.set(key, controller);
  const release = occupy();
  const buffer = perFrame((text) => updateLive(key, { text, phase: "streaming" }));
  const sources: Source[] = [];
  const segments: Segment[] = [];
  let sound: SoundPart | undefined;
  try {
    const receipt = await followAnswer(
      source,
      {
        started(start) {
          const stopAsked = threadOf(key).live?.stopping === true;
          const conversationId = start.turn?.conversationId ?? key;
          if (key !== conversationId) {
            move(key, conversationId);
            following.delete(key);
            key = conversationId;
            following.set(key, controller);
          }
          update(key, (thread) => afterStart(thread, start));
          onStarted(conversationId);
          if (stopAsked) void requestStop(key, start.generationId);
        },
        arrived: (text) => buffer.add(text),
        named: (more) => sources.push(...more),
        timed: (more) => segments.push(...more),
        sounded: (made) => {
          sound = made;
        },
        previewed: ({ place, address }) => updateLive(key, { previews: withAt(threadOf(key).live?.previews ?? [], place, address) }),
        pictured: ({ place, picture }) => updateLive(key, { pictures: withAt(threadOf(key).live?.pictures ?? [], place, picture) }),
        progressed: (progress) => updateLive(key, { progress }),
        filmed: ({ clip }) => updateLive(key, { film: clip }),
        interrupted: (lost) => updateLive(key, { phase: lost ? "lost" : buffer.text() === "" ? "waiting" : "streaming" }),
      },
      controller.signal,
    );
    buffer.stop();
    update(key, (thread) => afterReceipt(thread, receipt, buffer.text(), partsBeside(sources, segments, sound)));
    if (receipt.availableAfter !== null) useChat.setState({ lastAvailable: receipt.availableAfter });
    keepThread(key);
  } finally {
    release();
    buffer.stop();
    if (following.get(key) === controller) following.delete(key);
  }
}

/** Shows another version of a message and the messages after it. The server remembers the choice. */
export function showVersion(key: string, version: ThreadMessage): void {
  const { all } = threadOf(key);
  const head = endAfter(all, version);
  update(key, (thread) => showing(thread, thread.all, head.id));
  keepThread(key);
  // If this fails, the version is still shown on this device.
  if (head.role === "assistant")
    void api("PATCH /api/conversations/:id", { params: { id: key }, body: { headId: head.id } }).catch(() => {});
}

/**
 * Sends a prompt and follows its answer. Returns false if the server did not accept it: the thread is then as before, with the refusal,
 * and the caller has to restore the prompt.
 */
export async function sendPrompt(send: Send): Promise<boolean> {
  const { threadKey, modelId, prompt, quotedCredits, confirmed, idempotencyKey, attached = [], again = null, onStarted } = send;
  const before = threadOf(threadKey);
  if (before.live) return false;
  const last = before.messages.at(-1);
  const place = again?.place ?? { parentId: last?.id ?? null };
  const id = `sending-${idempotencyKey}`;
  update(threadKey, (thread) => ({
    ...("questionId" in place
      ? showing(thread, thread.all, place.questionId)
      : showing(thread, [...thread.all, questionOf(id, place.parentId, send)], id)),
    refusal: null,
    live: sending(modelId, quotedCredits, "questionId" in place ? place.questionId : id, askedOfSend(send)),
  }));
  const request = {
    model: modelId,
    quotedCredits,
    ...(confirmed && { confirmed }),
    ...wishOfSend(send),
    ...(threadKey === newThreadKey ? {} : { conversationId: threadKey }),
    ...(attached.length > 0 && { attachments: attached.map(({ fileId }) => fileId) }),
    ...("questionId" in place ? place : { prompt, ...(again || last?.role === "assistant" ? place : {}) }),
  };
  let taken = false;
  try {
    await follow(threadKey, { request, idempotencyKey }, (conversationId) => {
      taken = true;
      onStarted(conversationId);
    });
  } catch (error) {
    if (isAbort(error)) return taken;
    if (taken) await reload(request.conversationId ?? threadKey);
    else {
      const refusal = { ...toRefusal(error), again };
      const withoutIt = (thread: Thread) => thread.all.filter((message) => message.id !== id);
      update(threadKey, (thread) => ({ ...showing(thread, withoutIt(thread), before.headId), live: null, refusal }));
      if (refusal.available !== undefined) useChat.setState({ lastAvailable: refusal.available });
    }
  }
  return taken;
}

/** Reads a conversation page by page, the newest first. */
async function readWhole(id: string): Promise<Conversation> {
  const newest = await api("GET /api/conversations/:id", { params: { id } });
  const pages = [newest.messages];
  for (let before = newest.earlierThan; before; ) {
    const page = await api("GET /api/conversations/:id", { params: { id }, querystring: { before } });
    pages.unshift(page.messages);
    before = page.earlierThan;
  }
  return { ...newest, messages: pages.flat() };
}

/** Loads a conversation from the server and continues an answer that is still running. */
export async function reload(key: string): Promise<void> {
  if (key === newThreadKey || following.has(key)) return;
  if (!useChat.getState().threads[key]) update(key, (thread) => ({ ...thread, load: "loading" }));
  const asker = userId;
  const { headId } = threadOf(key);
  try {
    const conversation = await readWhole(key);
    if (userId !== asker || following.has(key)) return;
    // An answer that has come and ended meanwhile may not be in it.
    if (threadOf(key).headId !== headId) return await reload(key);
    const refusal = threadOf(key).refusal;
    update(key, () => ({ ...fromConversation(conversation), refusal }));
    keepThread(key);
    if (conversation.streamingGenerationId !== null) void resume(key, conversation.streamingGenerationId);
  } catch (error) {
    const missing = error instanceof ApiProblem && error.status === 404;
    const kept = await keptOf(key, missing);
    if (userId !== asker) return;
    if (kept && threadOf(key).load !== "ready") update(key, () => showing(emptyThread, kept.messages, kept.headId));
    // If it merely could not be read again, the screen keeps what it shows.
    update(key, (thread) => (thread.load === "ready" && !missing ? thread : { ...thread, load: missing ? "missing" : "failed" }));
  }
}

/** The messages of a conversation saved on this device. If the conversation was deleted, deletes them and its draft here too. */
async function keptOf(key: string, missing: boolean): Promise<{ messages: readonly ThreadMessage[]; headId: string | null } | undefined> {
  const owner = sessionStore.getState().user?.id;
  if (owner === undefined) return undefined;
  if (!missing) return await readKeptConversation(owner, key);
  await Promise.all([forgetConversation(owner, key), forgetDraft(owner, key)]);
  return undefined;
}

async function resume(key: string, generationId: string): Promise<void> {
  try {
    await follow(key, { generationId }, () => undefined);
  } catch (error) {
    if (isAbort(error)) return;
    // The server has deleted its events. Its text is in the conversation, or was deleted with it.
    if (error instanceof ApiProblem && error.code === "answer_gone") return await reload(key);
    update(key, (thread) => ({ ...thread, live: null, refusal: toRefusal(error) }));
  }
}

async function requestStop(key: string, generationId: string): Promise<void> {
  try {
    // The receipt arrives in the stream, after the last text.
    const { status } = await api("POST /api/generations/:id/stop", { params: { id: generationId } });
    // The provider of a clip had begun a moment before.
    if (status === "streaming" && threadOf(key).live?.clip) updateLive(key, { stopping: false });
  } catch (error) {
    const ended = error instanceof ApiProblem && error.code === "generation_ended";
    updateLive(key, { stopping: false });
    if (!ended) update(key, (thread) => ({ ...thread, refusal: { ...toRefusal(error), code: "stop_failed" } }));
  }
}

/**
 * Stops the answer: free before its first word, full price after it. If the server has not accepted the prompt yet, the stop is
 * sent when it has.
 */
export function stopAnswer(key: string): void {
  const live = threadOf(key).live;
  if (!live || live.stopping) return;
  updateLive(key, { stopping: true });
  if (live.generationId !== null) void requestStop(key, live.generationId);
}

export function dismissRefusal(key: string): void {
  update(key, (thread) => ({ ...thread, refusal: null }));
}

/** Forgets a conversation that was deleted. */
export function forgetThread(key: string): void {
  following.get(key)?.abort();
  discard(key);
  void keptOf(key, true);
}

// The next person who signs in on this device must not see anything of the previous one.
let userId = sessionStore.getState().user?.id;
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  for (const controller of following.values()) controller.abort();
  useChat.setState({ threads: {}, lastAvailable: null });
});
