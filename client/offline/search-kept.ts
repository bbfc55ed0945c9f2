import type { FoundConversation } from "#contract/conversations.ts";
import { textOf } from "#domain/messages.ts";
import { excerptOf, findMatch } from "#domain/search.ts";
import { listKeptConversations, readKeptList } from "./conversations.ts";

/** Finds the kept conversations with `words` in their title or text, the latest first. It replaces the server's search while offline. */
export async function searchKeptConversations(owner: string, words: string): Promise<FoundConversation[]> {
  const [list, kept] = await Promise.all([readKeptList(owner), listKeptConversations(owner)]);
  return list.flatMap((conversation) => {
    const text = kept
      .find(({ id }) => id === conversation.id)
      ?.messages.map(textOf)
      .find((said) => findMatch(said, words));
    if (text === undefined && !findMatch(conversation.title, words)) return [];
    return [{ conversation, excerpt: text === undefined ? null : excerptOf(text, words) }];
  });
}
