import { useStore } from "zustand";
import type { SessionState } from "./session-store.ts";
import { sessionStore } from "./session-store.ts";

/** `useSession()` or `useSession((state) => state.user)`. */
export function useSession(): SessionState;
export function useSession<Part>(select: (state: SessionState) => Part): Part;
export function useSession<Part>(select?: (state: SessionState) => Part): SessionState | Part {
  return useStore(sessionStore, select ?? ((state: SessionState) => state as SessionState & Part));
}
