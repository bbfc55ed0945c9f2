/**
 * Keeps the conversations that a person opened last, to read without a connection. They are deleted from the device when the
 * person signs out.
 */
import type { ConversationSummary, Message } from "#contract/conversations.ts";
import { textOf } from "#domain/messages.ts";
import type { Kind } from "./store.ts";
import { isRecord, listStored, readStored, removeStored, writeStored } from "./store.ts";

interface KeptConversation {
  owner: string;
  id: string;
  /** The messages of all branches. */
  messages: Message[];
  /** The end of the branch that was shown; null: the newest. */
  headId: string | null;
  /** Milliseconds of this device's clock. */
  openedAtMs: number;
}

interface KeptList {
  owner: string;
  conversations: ConversationSummary[];
}

const conversationsMaximum = 20;

function isMessage(value: unknown): value is Message {
  if (!isRecord(value) || typeof value.id !== "string" || !Array.isArray(value.parts)) return false;
  return (value.role === "user" || value.role === "assistant") && typeof value.timestamp === "string" && value.receipt !== undefined;
}

/** Earlier versions kept the text of a message alone, and each followed the one before it. */
function inParts(stored: readonly unknown[]): unknown[] {
  return stored.map((value, index) => {
    if (!isRecord(value) || typeof value.content !== "string") return value;
    const { content, ...message } = value;
    const before = stored[index - 1];
    const parts = content === "" ? [] : [{ kind: "text", text: content }];
    return { ...message, parts, parentId: isRecord(before) ? before.id : null };
  });
}

function isSummary(value: unknown): value is ConversationSummary {
  return isRecord(value) && typeof value.id === "string" && typeof value.title === "string" && typeof value.updatedAt === "string";
}

const conversationKind: Kind<KeptConversation> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    if (!isRecord(stored) || !Array.isArray(stored.messages)) return undefined;
    const messages = inParts(stored.messages);
    const { owner, id, headId, openedAtMs } = stored;
    if (!messages.every(isMessage) || typeof owner !== "string" || typeof id !== "string" || typeof openedAtMs !== "number")
      return undefined;
    return { owner, id, messages, headId: typeof headId === "string" ? headId : null, openedAtMs };
  },
};

const listKind: Kind<KeptList> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    if (!isRecord(stored) || typeof stored.owner !== "string" || !Array.isArray(stored.conversations)) return undefined;
    return { owner: stored.owner, conversations: stored.conversations.filter(isSummary) };
  },
};

const conversationPrefix = "conversation:";
const listPrefix = "conversations:";

const keyOf = (owner: string, id: string) => `${conversationPrefix}${owner}:${id}`;

export async function keepConversation(owner: string, id: string, messages: readonly Message[], headId: string | null): Promise<void> {
  const kept: KeptConversation = { owner, id, messages: [...messages], headId, openedAtMs: Date.now() };
  await writeStored(conversationKind, keyOf(owner, id), kept);
  const all = await listKeptConversations(owner);
  for (const old of all.slice(conversationsMaximum)) await forgetConversation(owner, old.id);
}

export async function readKeptConversation(owner: string, id: string): Promise<Pick<KeptConversation, "messages" | "headId"> | undefined> {
  return await readStored(conversationKind, keyOf(owner, id));
}

export async function listKeptConversations(owner: string): Promise<KeptConversation[]> {
  const kept = await listStored(conversationKind, `${conversationPrefix}${owner}:`);
  return kept.sort((one, other) => other.openedAtMs - one.openedAtMs);
}

export async function forgetConversation(owner: string, id: string): Promise<void> {
  await removeStored(conversationKind, keyOf(owner, id));
}

export async function keepConversationList(owner: string, conversations: readonly ConversationSummary[]): Promise<void> {
  await writeStored(listKind, listPrefix + owner, { owner, conversations: [...conversations] });
}

/** For a conversation that the kept list lacks, or if no list was kept: its first words are its title. */
function summaryOf({ id, messages, openedAtMs }: KeptConversation): ConversationSummary {
  const [first, last] = [messages[0], messages.at(-1)];
  const openedAt = new Date(openedAtMs).toISOString();
  const [title = ""] = (first ? textOf(first) : "").split(/[\r\n]/, 1);
  return { id, title, pinned: false, createdAt: first?.timestamp ?? openedAt, updatedAt: last?.timestamp ?? openedAt };
}

export interface OpenableConversation extends ConversationSummary {
  openedAtMs: number;
}

/** All conversations that can be opened without a connection, the latest first. */
export async function readKeptList(owner: string): Promise<OpenableConversation[]> {
  const [list, kept] = await Promise.all([readStored(listKind, listPrefix + owner), listKeptConversations(owner)]);
  const named = new Map(list?.conversations.map((summary) => [summary.id, summary]));
  return kept
    .filter(({ messages }) => messages.length > 0)
    .map((conversation) => ({ ...(named.get(conversation.id) ?? summaryOf(conversation)), openedAtMs: conversation.openedAtMs }))
    .sort((one, other) => Date.parse(other.updatedAt) - Date.parse(one.updatedAt));
}

export async function forgetAllConversations(owner: string): Promise<void> {
  for (const { id } of await listKeptConversations(owner)) await forgetConversation(owner, id);
  await removeStored(listKind, listPrefix + owner);
}

/** Deletes the conversations of everybody but `owner`; with null, of everybody. */
export async function keepOnlyConversationsOf(owner: string | null): Promise<void> {
  const kept = [...(await listStored(conversationKind, conversationPrefix)), ...(await listStored(listKind, listPrefix))];
  const others = new Set(kept.map((entry) => entry.owner).filter((other) => other !== owner));
  for (const other of others) await forgetAllConversations(other);
}
