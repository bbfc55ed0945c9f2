import { useCallback, useRef } from "react";
import { focusComposer } from "./composer.tsx";
import { useModels } from "./models-store.ts";
import { priceAgain } from "./price-again.ts";
import type { ThreadMessage } from "./thread.ts";
import type { Sending } from "./use-sending.ts";

/** Asks the question of an answer again. The function never changes; a new one would render every answer with every key press. */
export function useRetry(sendAgain: Sending["sendAgain"]): (answer: ThreadMessage) => void {
  const latest = useRef(sendAgain);
  latest.current = sendAgain;
  return useCallback((answer) => {
    const model = useModels.getState().models.find(({ id }) => id === answer.receipt?.modelId);
    if (!model || answer.parentId === null) return;
    const { picture, clip, speech } = answer.receipt ?? {};
    const options = { ...(picture && { picture }), ...(clip && { clip }), ...(speech && { speech: { voice: speech.voice } }) };
    const again = { modelId: model.id, prompt: "", place: { questionId: answer.parentId }, ...options };
    void latest.current(again, priceAgain(model, answer.receipt));
    focusComposer();
  }, []);
}
