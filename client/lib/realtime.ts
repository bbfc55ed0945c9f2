import type { RealtimeTable } from "#contract/realtime.ts";

/**
 * An event of the socket: one of the person's own rows changed; or the socket has started to listen, and earlier changes may
 * have been missed.
 */
export type RealtimeEvent = { type: "change"; table: RealtimeTable } | { type: "listening" };

const listeners = new Set<(event: RealtimeEvent) => void>();

export function onRealtime(listener: (event: RealtimeEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `look` after every pushed change of these tables, and when changes may have been missed. Returns a function that stops it. */
export function onNews(tables: readonly RealtimeTable[], look: () => unknown): () => void {
  return onRealtime((event) => {
    if (event.type === "listening" || tables.includes(event.table)) look();
  });
}

/** Only the socket calls this (realtime-socket.ts). */
export function tellListeners(event: RealtimeEvent): void {
  for (const listener of listeners) listener(event);
}
