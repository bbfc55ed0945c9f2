import { useCallback, useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { Explanation } from "#contract/ledger.ts";

type State = { status: "loading" } | { status: "failed" } | { status: "known"; explanation: Explanation };

export function useExplanation(): { state: State; read: () => void } {
  const [state, setState] = useState<State>({ status: "loading" });
  const read = useCallback(() => {
    setState({ status: "loading" });
    api("GET /api/credits/explanation").then(
      (explanation) => setState({ status: "known", explanation }),
      () => setState({ status: "failed" }),
    );
  }, []);
  useEffect(read, [read]);
  return { state, read };
}
