import { useChat } from "./chat-store.ts";
import { useOnline } from "./use-online.ts";

/** Whether something can be asked in this thread now: there is a connection, and no answer under way. */
export function useMayAsk(threadKey: string): boolean {
  const online = useOnline();
  const isLive = useChat((state) => (state.threads[threadKey]?.live ?? null) !== null);
  return online && !isLive;
}
