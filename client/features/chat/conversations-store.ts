import { validate as isUuid } from "uuid";
import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { keepConversationList, readKeptList } from "#client/offline/conversations.ts";
import { listDrafted } from "#client/offline/drafts.ts";
import type { ConversationSummary } from "#contract/conversations.ts";
import { forgetThread } from "./chat-store.ts";

interface ConversationsState {
  status: "idle" | "loading" | "ready" | "failed";
  conversations: readonly ConversationSummary[];
  nextCursor: string | null;
  /** The server has answered. Until then the list shows only what this device has saved. */
  listed: boolean;
}

const nothing: ConversationsState = { status: "idle", conversations: [], nextCursor: null, listed: false };
const pageSize = 30;
/** The server accepts at most this many. */
const askedAtOnce = 100;

export const useConversations = create<ConversationsState>(() => nothing);

/** Sorts as the server does: pinned ones first, then the others, each latest first. */
function inOrder(conversations: readonly ConversationSummary[]): ConversationSummary[] {
  const latestFirst = (one: ConversationSummary, other: ConversationSummary) => Date.parse(other.updatedAt) - Date.parse(one.updatedAt);
  return conversations.toSorted((one, other) => Number(other.pinned) - Number(one.pinned) || latestFirst(one, other));
}

/** Reads the first page again and keeps the older pages that were read before. */
export async function refreshConversations(): Promise<void> {
  if (useConversations.getState().status === "idle") {
    useConversations.setState({ status: "loading" });
    void showKept("loading");
  }
  const asker = userId;
  try {
    const page = await api("GET /api/conversations", { querystring: { limit: pageSize } });
    if (userId !== asker) return;
    useConversations.setState(({ conversations, nextCursor, listed }) => {
      const known = new Set(page.conversations.map((conversation) => conversation.id));
      const oldest = page.conversations.at(-1)?.updatedAt ?? "";
      const older =
        page.nextCursor === null || !listed
          ? []
          : conversations.filter(({ id, pinned, updatedAt }) => !known.has(id) && !pinned && updatedAt <= oldest);
      return {
        status: "ready",
        conversations: inOrder([...page.conversations, ...older]),
        nextCursor: older.length > 0 ? nextCursor : page.nextCursor,
        listed: true,
      };
    });
    if (userId !== undefined) {
      void keepConversationList(userId, page.conversations);
      void forgetGone(userId, page.conversations).catch(() => {});
    }
  } catch {
    if (userId === asker) await showKept("failed");
  }
}

/** Which of these conversations, however many, no longer exist. */
async function findGone(ids: readonly string[]): Promise<string[]> {
  const gone: string[] = [];
  for (let first = 0; first < ids.length; first += askedAtOnce) {
    const body = { ids: ids.slice(first, first + askedAtOnce) };
    gone.push(...(await api("POST /api/conversations/gone", { body })).gone);
  }
  return gone;
}

/** Deletes on this device the conversations, with their drafts, that were deleted on another one. */
async function forgetGone(owner: string, latest: readonly ConversationSummary[]): Promise<void> {
  const [kept, drafted] = await Promise.all([readKeptList(owner), listDrafted(owner)]);
  // Drafts also have keys that are not ids, for example that of a new conversation.
  const here = new Set([...kept.map(({ id }) => id), ...drafted.filter(isUuid)]);
  for (const { id } of latest) here.delete(id);
  const gone = await findGone([...here]);
  if (userId !== owner || gone.length === 0) return;
  useConversations.setState(({ conversations }) => ({ conversations: conversations.filter(({ id }) => !gone.includes(id)) }));
  for (const id of gone) forgetThread(id);
}

/**
 * Shows the conversations saved on this device at once, and keeps them if the server can't be reached. `status` is for an empty
 * list.
 */
async function showKept(status: "loading" | "failed"): Promise<void> {
  const asker = userId;
  const kept = asker === undefined ? [] : await readKeptList(asker);
  if (userId !== asker) return;
  useConversations.setState((state) => {
    if (status === "loading" && state.status !== "loading") return {};
    const shown = state.conversations.length > 0 ? state.conversations : kept;
    return { conversations: shown, status: shown.length > 0 ? "ready" : status };
  });
}

export async function loadOlderConversations(): Promise<void> {
  const cursor = useConversations.getState().nextCursor;
  if (cursor === null) return;
  const asker = userId;
  const page = await api("GET /api/conversations", { querystring: { limit: pageSize, cursor } });
  if (userId !== asker) return;
  useConversations.setState(({ conversations }) => {
    const known = new Set(conversations.map((conversation) => conversation.id));
    const added = page.conversations.filter(({ id }) => !known.has(id));
    return { conversations: inOrder([...conversations, ...added]), nextCursor: page.nextCursor };
  });
}

/** Renames, pins or unpins. Throws ApiProblem, NetworkProblem. */
export async function updateConversation(id: string, change: { title?: string; pinned?: boolean }): Promise<void> {
  const changed = await api("PATCH /api/conversations/:id", { params: { id }, body: change });
  useConversations.setState(({ conversations }) => ({
    conversations: conversations.map((conversation) => (conversation.id === id ? changed : conversation)),
  }));
  // The order has changed: read the first page again.
  await refreshConversations();
}

/** Deletes a conversation; its receipts stay in the ledger. Throws ApiProblem, NetworkProblem. */
export async function deleteConversation(id: string): Promise<void> {
  await api("DELETE /api/conversations/:id", { params: { id } });
  useConversations.setState(({ conversations }) => ({ conversations: conversations.filter((conversation) => conversation.id !== id) }));
  forgetThread(id);
}

let userId = sessionStore.getState().user?.id;
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  useConversations.setState(nothing);
});
