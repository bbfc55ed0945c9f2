import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import type { StepUpProof } from "#contract/account/step-up.ts";
import { ApiProblem, api } from "./api.ts";
import { refreshUser } from "./session-refresh.ts";

interface Question {
  /** Called with true once the server has accepted a factor, with false when the person gave up. */
  answer: (proved: boolean) => void;
}

const store = createStore<{ question: Question | undefined }>(() => ({ question: undefined }));

/** The question that is open now. Only the dialog reads it (step-up-dialog.tsx). */
export function useStepUpQuestion(): Question | undefined {
  return useStore(store, ({ question }) => question);
}

function ask(): Promise<boolean> {
  store.getState().question?.answer(false);
  return new Promise((resolve) => {
    const answer = (proved: boolean) => {
      store.setState({ question: undefined });
      resolve(proved);
    };
    store.setState({ question: { answer } });
  });
}

/**
 * Makes a call that may need a recently shown factor. If the server asks for one, the person is asked and the call is made once more.
 * Returns undefined when the person gives up; throws what the call throws. The page must show a StepUpDialog.
 */
export async function withStepUp<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== "step_up_required") throw error;
  }
  return (await ask()) ? await call() : undefined;
}

/** Proves a factor and takes new tokens, so that a stolen copy of the old allows nothing dangerous (server/features/auth/viewer.ts). */
export async function showFactor(proof: StepUpProof): Promise<void> {
  await api("POST /api/account/step-up", { body: proof });
  // The factor counts for the present tokens too, until others are in use.
  await refreshUser().catch(() => undefined);
}
