import type { RealtimeTable } from "#contract/realtime.ts";

/** What the socket says: a change of the person's own rows, or that it listens from now on and may have missed what came before. */
export type RealtimeEvent = { type: "change"; table: RealtimeTable } | { type: "listening" };

const listeners = new Set<(event: RealtimeEvent) => void>();

export function onRealtime(listener: (event: RealtimeEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** For the socket alone (realtime-socket.ts). */
export function tellListeners(event: RealtimeEvent): void {
  for (const listener of listeners) listener(event);
}
