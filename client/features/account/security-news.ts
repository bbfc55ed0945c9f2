import { useEffect } from "react";

const listeners = new Set<() => void>();

/** Tells the open panels that something happened to the account, such as another password, so that they read again. */
export function tellSecurityNews(): void {
  for (const listener of listeners) listener();
}

/** Calls `read` at the start, after security news, and whenever the page comes back to the front. */
export function useSecurityReads(read: () => void): void {
  useEffect(() => {
    const lookAgain = () => {
      if (document.visibilityState === "visible") read();
    };
    read();
    listeners.add(read);
    document.addEventListener("visibilitychange", lookAgain);
    return () => {
      listeners.delete(read);
      document.removeEventListener("visibilitychange", lookAgain);
    };
  }, [read]);
}
