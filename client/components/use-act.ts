import { useState } from "react";
import type { Refusal } from "./use-refusal.tsx";
import { useRefusal } from "./use-refusal.tsx";

export interface Act<Name extends string = string> extends Refusal {
  /** The name of the act that runs. */
  busy: Name | undefined;
  /** `wordsOf` gives other words for an error than its usual ones. */
  run: (name: Name, act: () => Promise<unknown>, wordsOf?: (error: unknown) => string | undefined) => Promise<void>;
}

/** Runs one act at a time, and shows why it was refused. */
export function useAct<Name extends string = string>(): Act<Name> {
  const refusal = useRefusal();
  const [busy, setBusy] = useState<Name>();
  const run: Act<Name>["run"] = async (name, act, wordsOf) => {
    if (busy !== undefined || refusal.waitSeconds > 0) return;
    refusal.clear();
    setBusy(name);
    try {
      await act();
    } catch (error) {
      refusal.refuse(error, wordsOf?.(error));
    } finally {
      setBusy(undefined);
    }
  };
  return { ...refusal, busy, run };
}
