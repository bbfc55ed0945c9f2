import { useEffect } from "react";
import { onRealtime } from "#client/lib/realtime.ts";
import { reload } from "./chat-store.ts";
import { refreshConversations } from "./conversations-store.ts";

/** Another device may ask and answer in the same conversation: what it changes is read again here. */
export function useLiveConversations(threadKey: string): void {
  useEffect(
    () =>
      onRealtime((event) => {
        if (event.type === "change" && event.table !== "generations") return;
        void refreshConversations();
        void reload(threadKey);
      }),
    [threadKey],
  );
}
