import { useEffect } from "react";
import { onNews } from "#client/lib/realtime.ts";
import type { RealtimeTable } from "#contract/realtime.ts";

/** Changes that another page of the person's, or the team, may have made. */
const told: readonly RealtimeTable[] = ["factor_resets", "support_access"];
const listeners = new Set<() => unknown>();

/** Tells the open panels that something happened to the account, such as another password, so that they read again. */
export function tellSecurityNews(): void {
  for (const listener of listeners) listener();
}

/** Calls `read` at the start, after security news of this page or pushed by the server, and whenever the page or its socket comes back. */
export function useSecurityReads(read: () => unknown): void {
  useEffect(() => {
    const lookAgain = () => {
      if (document.visibilityState === "visible") read();
    };
    read();
    listeners.add(read);
    const unlisten = onNews(told, read);
    document.addEventListener("visibilitychange", lookAgain);
    return () => {
      listeners.delete(read);
      unlisten();
      document.removeEventListener("visibilitychange", lookAgain);
    };
  }, [read]);
}
