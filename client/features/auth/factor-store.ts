import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import type { FactorNeeded } from "#contract/auth.ts";

const store = createStore<{ needed: FactorNeeded | undefined }>(() => ({ needed: undefined }));

/** A sign-in of this page that waits for its second factor. */
export function useFactorNeeded(): FactorNeeded | undefined {
  return useStore(store, ({ needed }) => needed);
}

export function waitForFactor(needed: FactorNeeded | undefined): void {
  store.setState({ needed });
}
