import { vi } from "vitest";
import type { Receipt } from "#contract/generations/generations.ts";

/** The origin to which relative addresses resolve, as in a page. */
export const origin = "http://tessera.test";

/** Stubs the browser APIs that the client's non-visual modules use. `fire` dispatches an event on the page. */
export function stubPage(): { fire: (type: string) => void; storage: Map<string, string> } {
  const storage = new Map<string, string>();
  const events = new EventTarget();
  const page = Object.assign(events, { visibilityState: "visible" });
  vi.stubGlobal("location", new URL(origin));
  vi.stubGlobal("document", page);
  vi.stubGlobal("addEventListener", events.addEventListener.bind(events));
  vi.stubGlobal("removeEventListener", events.removeEventListener.bind(events));
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => setTimeout(draw, 0));
  vi.stubGlobal("cancelAnimationFrame", (frame: ReturnType<typeof setTimeout>) => clearTimeout(frame));
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => storage.set(key, value),
    removeItem: (key: string) => storage.delete(key),
  });
  return { fire: (type) => events.dispatchEvent(new Event(type)), storage };
}

/** The receipt of an answer that came whole. */
export const completedReceipt = (generationId: string): Receipt => ({
  generationId,
  modelId: "gpt-5-mini",
  status: "completed",
  heldCredits: 1,
  chargedCredits: 1,
  availableAfter: 299,
  failureCode: null,
  cutShort: false,
  trimmedMessages: 0,
  createdAt: "2026-11-20T00:00:00.000Z",
  endedAt: "2026-11-20T00:00:01.000Z",
});
