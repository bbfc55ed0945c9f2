import { useCallback, useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { Usage, UsageRange } from "#contract/usage.ts";

type State = { status: "loading" } | { status: "failed" } | { status: "known"; usage: Usage };

/** What was spent in the range. Of several ranges that were chosen quickly, the last one counts. */
export function useUsage(range: UsageRange): { state: State; read: () => void } {
  const [state, setState] = useState<State>({ status: "loading" });
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt reads the same again.
  useEffect(() => {
    let current = true;
    setState({ status: "loading" });
    api("GET /api/credits/usage", { querystring: { range } }).then(
      (usage) => current && setState({ status: "known", usage }),
      () => current && setState({ status: "failed" }),
    );
    return () => {
      current = false;
    };
  }, [range, attempt]);
  const read = useCallback(() => setAttempt((before) => before + 1), []);
  return { state, read };
}
