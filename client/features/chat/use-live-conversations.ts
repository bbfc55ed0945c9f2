import { useEffect } from "react";
import { onRealtime } from "#client/lib/realtime.ts";
import { reload } from "./chat-store.ts";
import { refreshConversations } from "./conversations-store.ts";

/** Reads conversations again when another of the person's devices has changed them. */
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
