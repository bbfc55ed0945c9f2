import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import type { DeletionPending, FactorNeeded } from "#contract/auth/sign-in.ts";

/** What a person has to do before a sign-in of this page gives a session. */
type NextStep = FactorNeeded | DeletionPending;

const store = createStore<{ step: NextStep | undefined }>(() => ({ step: undefined }));

export function useNextStep(): NextStep | undefined {
  return useStore(store, ({ step }) => step);
}

export function waitForStep(step: NextStep | undefined): void {
  store.setState({ step });
}
