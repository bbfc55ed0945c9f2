import { create } from "zustand";
import { api } from "#client/lib/api.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { keepConversationList, readKeptList } from "#client/offline/conversations.ts";
import type { ConversationSummary } from "#contract/generations.ts";
import { forgetThread } from "./chat-store.ts";

interface ConversationsState {
  status: "idle" | "loading" | "ready" | "failed";
  conversations: readonly ConversationSummary[];
  nextCursor: string | null;
}

const nothing: ConversationsState = { status: "idle", conversations: [], nextCursor: null };
const pageSize = 30;

export const useConversations = create<ConversationsState>(() => nothing);

/** Reads the latest conversations afresh; older pages already read stay. */
export async function refreshConversations(): Promise<void> {
  if (useConversations.getState().status === "idle") useConversations.setState({ status: "loading" });
  const asker = userId;
  try {
    const page = await api("GET /api/conversations", { querystring: { limit: pageSize } });
    if (userId !== asker) return;
    useConversations.setState(({ conversations, nextCursor }) => {
      const known = new Set(page.conversations.map((conversation) => conversation.id));
      const oldest = page.conversations.at(-1)?.updatedAt ?? "";
      const older = page.nextCursor === null ? [] : conversations.filter(({ id, updatedAt }) => !known.has(id) && updatedAt <= oldest);
      return {
        status: "ready",
        conversations: [...page.conversations, ...older],
        nextCursor: older.length > 0 ? nextCursor : page.nextCursor,
      };
    });
    if (userId !== undefined) void keepConversationList(userId, page.conversations);
  } catch {
    if (userId === asker) await showKept();
  }
}

/** Without a connection the list is of what can be opened without one. */
async function showKept(): Promise<void> {
  const asker = userId;
  const kept = asker === undefined ? [] : await readKeptList(asker);
  if (userId !== asker) return;
  useConversations.setState(({ conversations }) => {
    const shown = conversations.length > 0 ? conversations : kept;
    return { conversations: shown, status: shown.length > 0 ? "ready" : "failed" };
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
    return { conversations: [...conversations, ...page.conversations.filter(({ id }) => !known.has(id))], nextCursor: page.nextCursor };
  });
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
