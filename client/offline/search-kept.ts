import type { FoundConversation } from "#contract/generations.ts";
import { excerptOf, findMatch } from "#domain/search.ts";
import { listKeptConversations, readKeptList } from "./conversations.ts";

/** Of what is kept the conversations with `words` in title or text, the latest first: the server's search without the server. */
export async function searchKeptConversations(owner: string, words: string): Promise<FoundConversation[]> {
  const [list, kept] = await Promise.all([readKeptList(owner), listKeptConversations(owner)]);
  return list.flatMap((conversation) => {
    const text = kept.find(({ id }) => id === conversation.id)?.messages.find(({ content }) => findMatch(content, words))?.content;
    if (text === undefined && !findMatch(conversation.title, words)) return [];
    return [{ conversation, excerpt: text === undefined ? null : excerptOf(text, words) }];
  });
}
