import { useOnline } from "#client/lib/use-online.ts";
import { useChat } from "./chat-store.ts";

/** Whether the person can ask in this thread now: there is a connection and no running answer. */
export function useMayAsk(threadKey: string): boolean {
  const online = useOnline();
  const isLive = useChat((state) => (state.threads[threadKey]?.live ?? null) !== null);
  return online && !isLive;
}
