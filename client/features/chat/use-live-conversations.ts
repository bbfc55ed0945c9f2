import { useCallback } from "react";
import { conversationNews, useNews } from "#client/lib/use-news.ts";
import { reload } from "./chat-store.ts";
import { refreshConversations } from "./conversations-store.ts";

/** Reads conversations again when another of the person's devices has changed them. */
export function useLiveConversations(threadKey: string): void {
  const look = useCallback(() => {
    void refreshConversations();
    void reload(threadKey);
  }, [threadKey]);
  useNews(conversationNews, look);
}
